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
import { systemCode } from '../../contracts/errors.js';
import type { Role } from '../../contracts/kinds.js';
import type { TraceEntryInput } from '../../contracts/trace-entry.js';
import { writePrivateFile } from '../../engine/files/user-state.js';
import { mayHoldSecret } from '../../memory/redaction/secret-hints.js';
import { isObject } from '../../shared/is-object.js';
import { oneLine } from '../../shared/text.js';

/** What waits on this machine to be sent: one file each, so that hooks at the same moment lose nothing. */
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

/** What hooks keep between two of them. Every method throws the file system's error. */
export interface HookState {
  /** Keeps something to be sent later; how many things wait then. */
  keep(waiting: Waiting): number;
  /** What waits, oldest first, each with the name by which `forget` takes it away. */
  waiting(): { readonly name: string; readonly what: Waiting }[];
  forget(name: string): void;
  /** Marks an agent as sent back, or as one that is not to be; false where it was marked before. */
  markSentBack(key: string): boolean;
  isSentBack(key: string): boolean;
  unmark(key: string): void;
  /** Remembers a text, and gives it back once. */
  remember(key: string, text: string): void;
  recall(key: string): string | undefined;
}

/** Most things that wait: beyond that nothing more is kept, since no server has been there for long. */
export const MAX_WAITING = 2000;
const PRIVATE = 0o700;
const MAX_LOG = 1_000_000;
const MAX_LINE = 1000;

/**
 * @param folder where it lies; made with the first thing that is kept
 * @param server the address of the server: what waits for one is never sent to another
 */
export function hookState(folder: string, server: string): HookState {
  const spool = join(folder, 'hooks', keyOf(server));
  const marks = join(folder, 'hooks', 'sent-back');
  const texts = join(folder, 'hooks', 'said');
  const isSentBack = (key: string) =>
    statSync(join(marks, keyOf(key)), { throwIfNoEntry: false }) !== undefined;
  return {
    keep(waiting) {
      mkdirSync(spool, { recursive: true, mode: PRIVATE });
      const names = namesIn(spool);
      if (names.length >= MAX_WAITING)
        throw new Error(`${spool} holds ${names.length} things: nothing more is kept`);
      // In the order of their time; whole or not at all.
      const name = `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(6).toString('hex')}`;
      writePrivateFile(join(spool, `${name}.json`), JSON.stringify(waiting));
      return names.length + 1;
    },
    waiting() {
      return namesIn(spool).flatMap((name) => {
        const what = readWaiting(join(spool, name));
        return what === undefined ? [] : [{ name, what }];
      });
    },
    forget: (name) => rmSync(join(spool, name), { force: true }),
    markSentBack(key) {
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
    unmark(key) {
      if (isSentBack(key)) rmSync(join(marks, keyOf(key)), { force: true });
    },
    remember(key, text) {
      mkdirSync(texts, { recursive: true, mode: PRIVATE });
      writeFileSync(join(texts, keyOf(key)), text, { mode: 0o600 });
    },
    recall(key) {
      const file = join(texts, keyOf(key));
      try {
        const text = readFileSync(file, 'utf8');
        rmSync(file, { force: true });
        return text;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
  };
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
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort();
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
