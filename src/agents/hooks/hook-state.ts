import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, isMissing, messageOf } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { namesIn, writePrivateFile } from '../../engine/files/user-state.js';
import { redactText, secretScanner } from '../../memory/redaction/redactor.js';
import { jsonOf, oneLine } from '../../shared/text.js';
import type { WorkTree } from './turn-files.js';

export type HookState = ReturnType<typeof hookState>;

export interface TurnNote {
  readonly request?: string;
  readonly entry?: TraceEntryInput;
  readonly commit?: string;
  readonly reported?: true;
  readonly tree?: WorkTree;
  /** The sub-agent, by its name, that was given the contract of a role. */
  readonly owes?: { readonly name: string; readonly role: Role };
}

const PRIVATE = 0o700;
/** Bytes of the notes of one turn: of a longer one the beginning counts. */
const MAX_NOTES = 512 * 1024;
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;
const MAX_LOG = 1_000_000;
const MAX_LINE = 1000;

/**
 * State kept between hooks. `markSentBack` and all readers throw file system errors; a failed write of anything else is only
 * logged.
 *
 * @param folder where it lies; made with the first thing that is kept
 */
export function hookState(folder: string, log: (line: string) => void = () => {}) {
  const texts = join(folder, 'hooks', 'texts');
  const turns = join(folder, 'hooks', 'turns');
  const peek = (key: string) => textIn(join(texts, keyOf(key)));
  const write = (key: string, text: string) => {
    mkdirSync(texts, { recursive: true, mode: PRIVATE });
    writePrivateFile(join(texts, keyOf(key)), text);
  };
  const recall = (key: string) => {
    const text = peek(key);
    if (text !== undefined) rmSync(join(texts, keyOf(key)), { force: true });
    return text;
  };
  const sentBack = (key: string) => `sent back ${key}`;
  return {
    /** Marks an agent as sent back, or as one that is not to be. */
    markSentBack: (key: string) => write(sentBack(key), key),
    isSentBack: (key: string) => peek(sentBack(key)) !== undefined,
    unmark: (key: string) => recall(sentBack(key)),
    /** Remembers a text, which `recall` gives back once. */
    remember: (key: string, text: string) => attempt(log, () => write(key, text)),
    recall,
    peek,
    note: (key: string, note: TurnNote) =>
      attempt(log, () => {
        mkdirSync(turns, { recursive: true, mode: PRIVATE });
        const file = join(turns, keyOf(key));
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < MAX_NOTES)
          // On a line of its own, also after half a note.
          appendFileSync(file, `\n${JSON.stringify(note)}`, { mode: 0o600 });
      }),
    notes(key: string): TurnNote[] {
      const lines = textIn(join(turns, keyOf(key)))?.split('\n') ?? [];
      // A line may be cut: a hook beside this one is writing it, or a full disk has left half of it.
      return lines.flatMap((line) => (jsonOf(line) as TurnNote | undefined) ?? []);
    },
    /** Removes what no hook has written for a month: those conversations are over. */
    sweep: () =>
      attempt(log, () => {
        const files = [texts, turns].flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
        for (const file of files)
          if (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > MAX_AGE_MS)
            rmSync(file, { force: true });
      }),
    /** Removes the files of hooks and of `work` that hold a text, and what the agents of all sessions began with last. */
    forgetText(holds: (file: string) => boolean): void {
      rmSync(startsIn(folder), { recursive: true, force: true });
      const projects = join(folder, 'projects');
      const places = [
        join(folder, 'hooks'),
        ...namesIn(projects).map((name) => join(projects, name, 'work')),
      ];
      for (const file of places.flatMap(filesBelow))
        if (holds(textIn(file) ?? '')) rmSync(file, { force: true });
    },
    clearNotes: (key: string) => attempt(log, () => rmSync(join(turns, keyOf(key)), { force: true })),
  };
}

/** Names what hooks gave an agent of a session last, `{at, text}` as JSON. */
export function givenKey(installation: string, session: string): string {
  return `given ${installation} ${session}`;
}

/** Returns the folder of what agents begin with while the server does not answer. */
export function startsIn(stateDir: string): string {
  return join(stateDir, 'hooks', 'starts');
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function attempt(log: (line: string) => void, act: () => void): void {
  try {
    act();
  } catch (error) {
    log(`${codeOf(error)}: not remembered: ${messageOf(error)}`);
  }
}

/** Adds a line without secrets to the log of hooks, `<folder>/hook.log`. Never throws: a full disk must not stop the agent. */
export function logHook(folder: string, line: string, first: () => string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
    const file = join(folder, 'hook.log');
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    const isNew = size === undefined || size > MAX_LOG;
    if (isNew && size !== undefined) renameSync(file, `${file}.1`);
    const lines = [...(isNew ? [first()] : []), line].map(
      (entry) =>
        `${new Date().toISOString()} ${redactText(oneLine(entry.slice(0, 4 * MAX_LINE)), secretScanner).value.slice(0, MAX_LINE)}\n`,
    );
    appendFileSync(file, lines.join(''), { mode: 0o600 });
  } catch {
    // There is no one else to tell.
  }
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
