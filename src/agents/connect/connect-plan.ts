import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ParseError, parse } from 'jsonc-parser';
import type { ProjectSettings } from '../../config/connected-projects.js';
import { ThroughlineError } from '../../contracts/errors.js';
import { projectStateDir, userStateDir } from '../../engine/files/user-state.js';
import { hashOf } from '../../shared/hash.js';
import { isObject } from '../../shared/text.js';
import {
  CONNECT_CLIENTS,
  CONNECT_NAMES,
  type ConfigFile,
  type ConnectClientName,
  type Where,
} from './client-table.js';
import { connectedText, disconnectedText, type EntryState, entryState, ownLines } from './config-edit.js';
import { edited, unlessTooDeep, unusable } from './json-entries.js';

export interface FileChange {
  readonly path: string;
  /** Undefined for a missing file. */
  readonly before: string | undefined;
  /** Undefined for a file to remove. */
  readonly after: string | undefined;
  /** Action on the copy of the file before the first edit. */
  readonly backup: 'make' | 'drop' | 'leave';
  readonly record: ConnectRecord;
  /** Hash of our lines; left out when they are removed. */
  readonly hash?: string;
}

export const PROJECT_FILE_NAME = '.throughline.json';

/** Returns the changes that connect a client, or the project alone; none if it is connected. Throws `config_invalid`. */
export function connectPlan(
  client: ConnectClientName | undefined,
  where: Where,
  given: ProjectFields,
  defaults: ProjectFields,
): FileChange[] {
  const { read } = where;
  const clientFiles = client === undefined ? [] : CONNECT_CLIENTS[client].files(where);
  const files = clientFiles.map((file): FileChange => {
    const { path } = file;
    const record = recordOf(path, where);
    const before = read(path);
    requireOurs(file, before, read(record.hash));
    const isFirst = before !== undefined && entryState(file, before) === 'absent';
    const backup = isFirst ? 'make' : 'leave';
    const after = connectedText(file, before);
    return { path, before, after, backup, record, hash: recordedHash(file, after) };
  });
  return [...files, ...(where.scope === 'project' ? [projectChange(where, given, defaults)] : [])].filter(
    isChange,
  );
}

/** Returns the changes that take out a client, or a project that is connected without any. Throws `config_invalid`. */
export function removePlan(client: ConnectClientName | undefined, where: Where): FileChange[] {
  const { read } = where;
  const clientFiles = client === undefined ? [] : CONNECT_CLIENTS[client].files(where);
  const files = clientFiles.flatMap((file): FileChange[] => {
    const { path } = file;
    const record = recordOf(path, where);
    const before = read(path);
    if (before === undefined) return [];
    requireOurs(file, before, read(record.hash));
    const after = disconnectedText(file, before, read(record.copy));
    return [{ path, before, after, backup: 'drop', record }];
  });
  const others = CONNECT_NAMES.filter((name) => name !== client);
  const isTaken = client === undefined || files.some(isChange);
  const goes = where.scope === 'project' && isTaken && noneOf(others, where);
  return [...files, ...(goes ? projectRemoved(where) : [])].filter(isChange);
}

export function clientState(client: ConnectClientName, where: Where): EntryState {
  const states = CONNECT_CLIENTS[client]
    .files(where)
    .map((file: ConfigFile) => entryState(file, where.read(file.path)));
  if (states.every((state) => state === 'absent')) return 'absent';
  return states.every((state) => state === 'connected') ? 'connected' : 'outdated';
}

function projectChange(where: Where, given: ProjectFields, defaults: ProjectFields) {
  const { read } = where;
  const path = join(where.project, PROJECT_FILE_NAME);
  const before = read(path);
  const record = recordOf(path, where);
  // A file that existed before the first client belongs to the user.
  const isFirst = before !== undefined && read(record.hash) === undefined && noneOf(CONNECT_NAMES, where);
  const after = projectText(before, given, defaults, path);
  const hash = recordedHash(undefined, after);
  const backup = isFirst ? ('make' as const) : ('leave' as const);
  return { path, before, after, backup, record, hash };
}

function projectRemoved(where: Where): FileChange[] {
  const { read } = where;
  const path = join(where.project, PROJECT_FILE_NAME);
  const before = read(path);
  if (before === undefined) return [];
  const record = recordOf(path, where);
  const copy = read(record.copy);
  if (copy !== undefined)
    return [{ path, before, after: projectTextBefore(before, copy), backup: 'drop', record }];
  const isOurs = read(record.hash) !== undefined && isOnlyProject(before);
  return isOurs ? [{ path, before, after: undefined, backup: 'drop', record }] : [];
}

/** Returns true if no client is connected. An unreadable file may have our entries. */
function noneOf(clients: readonly ConnectClientName[], where: Where): boolean {
  try {
    return clients.every((client) => clientState(client, where) === 'absent');
  } catch (error) {
    if (error instanceof ThroughlineError) return false;
    throw error;
  }
}

function isChange({ before, after }: FileChange): boolean {
  return before !== after;
}

/**
 * Paths in the user's state directory for each edited file: a copy from before the first edit, and a hash of the lines that
 * `throughline connect` wrote. A repository may contain lines that look like ours, and is not trusted.
 */
interface ConnectRecord {
  readonly copy: string;
  readonly hash: string;
}

export function recordOf(path: string, { scope, project, env, home }: Where): ConnectRecord {
  const state = userStateDir(env, home);
  const folder = join(scope === 'project' ? projectStateDir(state, project) : state, 'connect');
  const name = `${basename(path)}-${hashOf(path)}`;
  return { copy: join(folder, `${name}.before`), hash: join(folder, `${name}.written`) };
}

function recordedHash(file: ConfigFile | undefined, text: string | undefined): string {
  return hashOf((file && ownLines(file, text)) ?? '');
}

/** Refuses lines that look like ours but were not written by this user. `recorded`: hash of those written last. */
function requireOurs(file: ConfigFile, text: string | undefined, recorded: string | undefined): void {
  const lines = ownLines(file, text);
  if (lines === undefined || entryState(file, text) !== 'outdated' || recorded === hashOf(lines)) return;
  const what = file.kind === 'block' ? 'the text between ">>> throughline" and "<<< throughline"' : 'it';
  throw unusable(
    file.path,
    `"throughline connect" did not write ${what} as it stands there: remove it by hand, then run this again`,
  );
}

/** Fields of the `.throughline.json` that `throughline connect` writes. */
export type ProjectFields = Partial<Pick<ProjectSettings, (typeof FIELDS)[number]>>;
const FIELDS = ['session', 'project', 'plan'] as const;

/** Returns the text with the given fields, and defaults for missing ones. Throws `config_invalid` if it is not a JSON object. */
function projectText(text: string | undefined, given: ProjectFields, defaults: ProjectFields, path: string) {
  let result = text === undefined || text.trim() === '' ? '{}\n' : text;
  const errors: ParseError[] = [];
  const there: unknown = unlessTooDeep(() => parse(result, errors));
  if (!isObject(there) || errors.length > 0) {
    throw unusable(path, 'it is not a JSON object: write {"session": "NAME"}');
  }
  for (const field of FIELDS) {
    const value = given[field] ?? there[field] ?? defaults[field];
    if (value !== undefined && value !== there[field]) result = edited(result, [field], value);
  }
  return result;
}

function projectTextBefore(text: string, copy: string): string {
  const [now, before]: unknown[] = [parse(text), parse(copy)];
  // The file was damaged by hand.
  if (!isObject(now) || !isObject(before)) return text;
  const fields = FIELDS.filter((field) => now[field] !== before[field]);
  const result = fields.reduce((rest, field) => edited(rest, [field], before[field]), text);
  return isDeepStrictEqual(parse(result), before) ? copy : result;
}

/** Returns true if a file has only fields that `throughline connect` writes: it is removed with the last client. */
function isOnlyProject(text: string): boolean {
  const value: unknown = parse(text);
  return isObject(value) && Object.keys(value).every((key) => FIELDS.some((field) => field === key));
}
