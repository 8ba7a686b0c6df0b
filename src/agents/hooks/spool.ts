import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from '../../contracts/errors.js';
import { isRole, type Role } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { namesIn, textOrNone, writePrivateFile } from '../../engine/files/user-state.js';
import { hashOf } from '../../shared/hash.js';
import { isObject } from '../../shared/text.js';
import { startsIn } from './hook-state.js';

/**
 * The outbox of an installation, in the user's state directory: `hooks/spool/<installation>/`. Each item has its own file, so
 * concurrent hooks lose nothing. What cannot be sent goes into the folder `unreadable`.
 */

export type Waiting = KeptEntries | KeptResult | RawCall;

export interface KeptEntries {
  readonly kind: 'trace';
  readonly session: string;
  readonly entries: readonly TraceEntryInput[];
}

export interface KeptResult {
  readonly kind: 'result';
  readonly session: string;
  readonly role: Role;
  readonly text: string;
  /** Names it, however often it is sent. */
  readonly messageId: string;
  /** When the agent returned it, ISO 8601; files of earlier versions have none. */
  readonly at?: string;
}

/** The call of a hook that had no time to read it: a later hook does. */
export interface RawCall {
  readonly kind: 'raw';
  readonly client: string;
  readonly payload: string;
  readonly at: string;
  readonly directory: string;
  /** The variables that say where it belongs; empty if unset. */
  readonly env: Readonly<Record<string, string>>;
}

export type Spool = ReturnType<typeof spoolOf>;

/** Items with trace entries that wait at most, and half of all that may: no server has been there for long. */
export const MAX_WAITING = 2000;
const PRIVATE = 0o700;
const UNREADABLE = 'unreadable';
const RAW = '.raw.json';
const TAKEN = '.taken';
const SERVER = 'server';
/** A hook that has taken an item is done with it, or was killed. */
const TAKEN_MS = 60_000;
const MAX_NAME = 200;
const KEPT_OF_NAME = 60;

/** Keeps items until they are sent, each for its installation alone. All functions throw file system errors. */
export function spoolOf(stateDir: string, installation: string, log: (line: string) => void = () => {}) {
  const spools = spoolsIn(stateDir);
  const folder = join(spools, folderOf(installation));
  const aside = join(folder, UNREADABLE);
  const takeFrom = (from: string) => {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
    return [from, join(from, UNREADABLE)]
      .flatMap((place) => waitingIn(place).map((name) => moveFile(join(place, name), join(folder, name))))
      .filter(Boolean).length;
  };
  const starts = startsIn(stateDir);
  const startFile = (session: string) => join(starts, `${hashOf(installation)}-${hashOf(session)}`);
  const forget = (name: string) => rmSync(join(folder, name), { force: true });
  const setAside = (name: string, why: string) => {
    mkdirSync(aside, { recursive: true, mode: PRIVATE });
    const isFull = waitingIn(aside).length >= MAX_WAITING;
    log(`${isFull ? 'deleted' : `moved to ${aside}`}: ${name}: ${why}`);
    if (isFull) forget(name);
    else moveFile(join(folder, name), join(aside, name.replace(TAKEN, '')));
  };
  return {
    installation,
    keep(waiting: Waiting): void {
      mkdirSync(folder, { recursive: true, mode: PRIVATE });
      const names = waitingIn(folder);
      // A result must not be lost for the steps that came before it.
      if (names.length >= (waiting.kind === 'trace' ? MAX_WAITING : 2 * MAX_WAITING))
        throw new Error(`${folder} holds ${names.length} things: nothing more is kept`);
      // In the order of their time, and of this process within a millisecond; whole or not at all.
      const time = `${Date.now().toString(36).padStart(9, '0')}-${(kept++).toString(36).padStart(4, '0')}`;
      const name = `${time}-${randomBytes(6).toString('hex')}`;
      writePrivateFile(
        join(folder, `${name}${waiting.kind === 'raw' ? RAW : '.json'}`),
        JSON.stringify(waiting),
      );
    },
    /** Returns what waits to be sent, oldest first, or the raw calls; sets aside what cannot be read. */
    waiting(isRaw = false) {
      return waitingIn(folder).flatMap((name) => {
        if (name.includes(RAW) !== isRaw) return [];
        const what = readWaiting(join(folder, name));
        if (typeof what === 'string') setAside(name, what);
        return typeof what === 'object' ? [{ name, what }] : [];
      });
    },
    forget,
    setAside,
    /** Takes an item, so that no other hook does; undefined if another one has. */
    take(name: string): string | undefined {
      const taken = name.endsWith(TAKEN) ? name : `${name}${TAKEN}`;
      return moveFile(join(folder, name), join(folder, taken)) ? taken : undefined;
    },
    giveBack(taken: string): void {
      moveFile(join(folder, taken), join(folder, taken.replace(TAKEN, '')));
    },
    /** Takes over what waits for another installation, or could not be sent to it; returns how many items that are. */
    takeOver: (other: string) => takeFrom(join(spools, folderOf(other))),
    /** Takes over what waits for the same server at other addresses. `server` is a name that no other server has. */
    takeOverFor(server: string): void {
      if (serverOf(folder) !== server) {
        mkdirSync(folder, { recursive: true, mode: PRIVATE });
        writePrivateFile(join(folder, SERVER), server);
      }
      for (const other of namesIn(spools).map((name) => join(spools, name)))
        if (other !== folder && serverOf(other) === server) takeFrom(other);
    },
    /** Keeps what the agents of a session begin with, for when the server does not answer. */
    keepStart(session: string, prompt: string): void {
      mkdirSync(starts, { recursive: true, mode: PRIVATE });
      writePrivateFile(startFile(session), prompt);
    },
    /** Returns that with the time when it came; undefined if none was kept. */
    lastStart(session: string) {
      const at = statSync(startFile(session), { throwIfNoEntry: false })?.mtime;
      return at && { at, prompt: readFileSync(startFile(session), 'utf8') };
    },
  };
}

function serverOf(folder: string): string {
  return textOrNone(join(folder, SERVER), MAX_NAME);
}

let kept = 0;

export interface SpoolCount {
  readonly installation: string;
  readonly waiting: number;
  readonly unreadable: number;
}

export function spoolCounts(stateDir: string): SpoolCount[] {
  const spools = spoolsIn(stateDir);
  return namesIn(spools)
    .map((name) => ({
      installation: decodeURIComponent(name),
      waiting: waitingIn(join(spools, name)).length,
      unreadable: waitingIn(join(spools, name, UNREADABLE)).length,
    }))
    .filter(({ waiting, unreadable }) => waiting + unreadable > 0);
}

export function removeSpool(stateDir: string, installation: string): void {
  rmSync(join(spoolsIn(stateDir), folderOf(installation)), { recursive: true, force: true });
}

/** Removes what sessions began with: the user has changed to another server. */
export function removeStarts(stateDir: string): void {
  rmSync(startsIn(stateDir), { recursive: true, force: true });
}

function spoolsIn(stateDir: string): string {
  return join(stateDir, 'hooks', 'spool');
}

function folderOf(installation: string): string {
  const name = encodeURIComponent(installation);
  if (name.length <= MAX_NAME) return name;
  return `${installation.slice(0, KEPT_OF_NAME).replace(/[^\w.-]/g, '-')}-${hashOf(name)}`;
}

/** Returns the files of a spool. A taken one counts once its hook must have ended. */
function waitingIn(folder: string): string[] {
  return namesIn(folder)
    .filter(
      (name) =>
        name.endsWith('.json') ||
        (name.endsWith(TAKEN) &&
          Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.ctimeMs ?? 0) > TAKEN_MS),
    )
    .sort();
}

function moveFile(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Returns the fault of one that cannot be read; `undefined` for one that another hook has sent meanwhile. */
function readWaiting(file: string): Waiting | string | undefined {
  let read: unknown;
  try {
    // A pipe would block the hook without an end.
    if (!lstatSync(file).isFile()) return 'it is not a regular file';
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return isMissing(error) ? undefined : 'it is not JSON';
  }
  if (!isObject(read)) return 'it is not a JSON object';
  const { kind, session, entries, role, text, messageId, client, payload, at, directory, env } = read;
  const areTexts = (...values: unknown[]) => values.every((value) => typeof value === 'string');
  const isKnown =
    (kind === 'trace' && areTexts(session) && Array.isArray(entries)) ||
    (kind === 'result' && areTexts(session, role, text, messageId) && isRole(role)) ||
    (kind === 'raw' && areTexts(client, payload, at, directory) && isObject(env));
  return isKnown ? (read as unknown as Waiting) : 'it is of another version';
}
