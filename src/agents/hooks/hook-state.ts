import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf, systemCode } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { writePrivateFile } from '../../engine/files/user-state.js';
import { mayHoldSecret } from '../../memory/redaction/secret-hints.js';
import { isObject, oneLine } from '../../shared/text.js';

/** An item in the local outbox. Each has its own file, so concurrent hooks lose nothing. */
export type Waiting =
  | { readonly kind: 'trace'; readonly session: string; readonly entry: TraceEntryInput }
  | {
      readonly kind: 'result';
      readonly session: string;
      readonly role: Role;
      readonly text: string;
      /** Names it, however often it is sent. */
      readonly messageId: string;
    };

export type HookState = ReturnType<typeof hookState>;

/** One thing that happened in a turn, without secrets. */
export interface TurnNote {
  readonly request?: string;
  readonly entry?: TraceEntryInput;
  readonly commit?: string;
  readonly reported?: true;
  /** The sub-agent, by its name, that was given the contract of a role. */
  readonly owes?: { readonly name: string; readonly role: Role };
}

/** Most things that wait: beyond that nothing more is kept, since no server has been there for long. */
export const MAX_WAITING = 2000;
const PRIVATE = 0o700;
/** Bytes of the notes of one turn: of a longer one the beginning counts. */
const MAX_NOTES = 512 * 1024;
const DAY_MS = 86_400_000;
const MAX_LOG = 1_000_000;
const MAX_LINE = 1000;

/**
 * State kept between hooks. `keep`, `markSentBack` and all readers throw file system errors; a failed write of anything
 * else is only logged.
 *
 * @param folder where it lies; made with the first thing that is kept
 * @param server the address of the server: what waits for one is never sent to another
 */
export function hookState(folder: string, server: string, log: (line: string) => void = () => {}) {
  const spool = join(folder, 'hooks', keyOf(server));
  const marks = join(folder, 'hooks', 'sent-back');
  const texts = join(folder, 'hooks', 'said');
  const turns = join(folder, 'hooks', 'turns');
  const isSentBack = (key: string) =>
    statSync(join(marks, keyOf(key)), { throwIfNoEntry: false }) !== undefined;
  const peek = (key: string) => {
    try {
      return readFileSync(join(texts, keyOf(key)), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    /** Keeps something to be sent later; how many things wait then. */
    keep(waiting: Waiting): number {
      mkdirSync(spool, { recursive: true, mode: PRIVATE });
      const names = namesIn(spool);
      if (names.length >= MAX_WAITING)
        throw new Error(`${spool} holds ${names.length} things: nothing more is kept`);
      // In the order of their time; whole or not at all.
      const name = `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`;
      writePrivateFile(join(spool, `${name}.json`), JSON.stringify(waiting));
      return names.length + 1;
    },
    /** Returns the outbox, oldest first, each item with the name that `forget` needs. */
    waiting() {
      return namesIn(spool).flatMap((name) => {
        const what = readWaiting(join(spool, name));
        return what === undefined ? [] : [{ name, what }];
      });
    },
    forget: (name: string) => rmSync(join(spool, name), { force: true }),
    /** Marks an agent as sent back, or as one that is not to be; false where it was marked before. */
    markSentBack(key: string): boolean {
      mkdirSync(marks, { recursive: true, mode: PRIVATE });
      try {
        // Not empty: a full disk must refuse it.
        writeFileSync(join(marks, keyOf(key)), key, { flag: 'wx', mode: 0o600 });
        return true;
      } catch (error) {
        if (systemCode(error) === 'EEXIST') return false;
        throw error;
      }
    },
    isSentBack,
    unmark(key: string) {
      if (isSentBack(key)) rmSync(join(marks, keyOf(key)), { force: true });
    },
    /** Remembers a text, which `recall` gives back once. */
    remember: (key: string, text: string) =>
      attempt(log, () => {
        mkdirSync(texts, { recursive: true, mode: PRIVATE });
        writeFileSync(join(texts, keyOf(key)), text, { mode: 0o600 });
      }),
    recall(key: string) {
      const text = peek(key);
      if (text !== undefined) rmSync(join(texts, keyOf(key)), { force: true });
      return text;
    },
    peek,
    /** Adds to the notes of an agent's turn: what `finishedTurn` is made of. */
    note: (key: string, note: TurnNote) =>
      attempt(log, () => {
        mkdirSync(turns, { recursive: true, mode: PRIVATE });
        const file = join(turns, keyOf(key));
        if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < MAX_NOTES)
          appendFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 });
      }),
    notes(key: string): TurnNote[] {
      try {
        const lines = readFileSync(join(turns, keyOf(key)), 'utf8').split('\n');
        return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as TurnNote);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },
    clearNotes: (key: string) => attempt(log, () => rmSync(join(turns, keyOf(key)), { force: true })),
  };
}

function attempt(log: (line: string) => void, act: () => void): void {
  try {
    act();
  } catch (error) {
    log(`${codeOf(error)}: not remembered: ${messageOf(error)}`);
  }
}

/** Counts the tokens that hooks gave to agents, four characters each: a file for each day, a line for each answer. */
export function countInjected(
  folder: string,
  characters: number,
  at: Date,
  log: (line: string) => void,
): void {
  attempt(log, () => {
    const days = join(folder, 'hooks', 'injected');
    mkdirSync(days, { recursive: true, mode: PRIVATE });
    const file = join(days, at.toISOString().slice(0, 10));
    if (statSync(file, { throwIfNoEntry: false }) === undefined)
      for (const day of readdirSync(days).sort().slice(0, -1)) rmSync(join(days, day), { force: true });
    appendFileSync(file, `${at.toISOString()} ${Math.ceil(characters / 4)}\n`, { mode: 0o600 });
  });
}

/** Returns the tokens that hooks gave to agents within the last day. */
export function injectedTokens(folder: string, now: Date): number {
  const days = join(folder, 'hooks', 'injected');
  const since = new Date(now.getTime() - DAY_MS).toISOString();
  const lines = readFolder(days).flatMap((day) => readFileSync(join(days, day), 'utf8').split('\n'));
  return lines
    .filter((line) => line > since)
    .reduce((sum, line) => sum + (Number(line.split(' ')[1]) || 0), 0);
}

/** Adds one line to the log of hooks, `<folder>/hook.log`, without secrets. Never throws: a full disk must not stop the agent. */
export function logHook(folder: string, line: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
    const file = join(folder, 'hook.log');
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG) renameSync(file, `${file}.1`);
    appendFileSync(
      file,
      `${new Date().toISOString()} ${withoutSecret(oneLine(line.slice(0, 4 * MAX_LINE))).slice(0, MAX_LINE)}\n`,
      {
        mode: 0o600,
      },
    );
  } catch {
    // There is no one else to tell.
  }
}

/**
 * A line as far as it may hold no secret. The rules that would take out the secret alone take longer to load than a hook
 * that gives up has time.
 */
function withoutSecret(line: string): string {
  if (!mayHoldSecret(line)) return line;
  let kept = '';
  for (const part of line.split(/(?<=: )/)) {
    if (mayHoldSecret(kept + part)) break;
    kept += part;
  }
  return `${kept}(the rest may hold a secret: it is left out)`;
}

function namesIn(folder: string): string[] {
  return readFolder(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** `undefined` for one that another hook has sent meanwhile, or that a crash of the machine has left empty. */
function readWaiting(file: string): Waiting | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    // Only `keep` writes here.
    return isObject(read) && typeof read.session === 'string' ? (read as Waiting) : undefined;
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
