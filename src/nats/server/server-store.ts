import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import {
  createPrivateFile,
  makePrivateFolder,
  readRegularFile,
  textOrNone,
  writePrivateFile,
} from '../../engine/files/user-state.js';
import { ifPossible, isObject, jsonOf } from '../../shared/text.js';
import {
  belongsToUs,
  identityOf,
  isRunning,
  type ProcessIdentity,
  signalRecorded,
} from './process-identity.js';

/**
 * A store's pid file: the lock of the store, and the only way to the server on it.
 *
 * Two servers on one store overwrite each other's messages, so the process that starts one takes the lock first. The file names
 * this starter, then the server, then its URL once it is ready. It counts while one of the two processes runs, which their
 * start times prove: a crash leaves nothing locked. A stale file is replaced by compare-and-set: a process creates the next file
 * exclusively, checks that the present one is still stale, and renames; the file then names the holder. Every command reads it,
 * and therefore without a schema library.
 */
const PID_FILE = 'throughline-server.pid';
const NEXT_FILE = 'throughline-server.next';
const MAX_NOTE = 4096;
const GRACE_MS = 5000;
const POLL_MS = 20;

export interface StoreNote {
  readonly starter: ProcessIdentity;
  readonly server?: ProcessIdentity;
  /** Set when the server is ready: `nats://127.0.0.1:4222`. */
  readonly url?: string;
  /** Set when the services answer: the URL of the inspector, with its token, or null without one. */
  readonly inspector?: string | null;
}

/** `orphan`: the server still runs, although its starter was killed. */
export type StoreUse = StoreNote & { readonly by: 'starter' | 'server' | 'orphan' };

export interface StoreLock {
  note(more: Partial<StoreNote>): void;
  release(): void;
}

export function storeUse(storeDir: string): StoreUse | undefined {
  const note = readNote(join(storeDir, PID_FILE));
  if (note === undefined) return undefined;
  const isStarted = isRunning(note.starter);
  if (note.server !== undefined && isRunning(note.server)) {
    const by = isStarted ? (note.url === undefined ? 'starter' : 'server') : 'orphan';
    return { ...note, by };
  }
  return isStarted && note.url === undefined ? { ...note, by: 'starter' } : undefined;
}

export interface ProvenServer {
  readonly url: string;
  readonly pid: number;
}

/**
 * Returns the ready server on a store: the process of the pid file runs, has the recorded start time, and belongs to this user.
 * On Linux, the listener on its port belongs to this user as well.
 */
export function serverOnStore(storeDir: string): ProvenServer | undefined {
  const { server, url } = readNote(join(storeDir, PID_FILE)) ?? {};
  if (server === undefined || url === undefined || !isRunning(server) || !belongsToUs(server.pid))
    return undefined;
  const user = process.geteuid?.();
  const listener = listenerOf(Number(new URL(url).port));
  return listener === undefined || listener === user ? { url, pid: server.pid } : undefined;
}

/** Returns the user whose process listens on a TCP port of 127.0.0.1; `undefined` if there is none, or the system does not say. */
export function listenerOf(port: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  // Local address, remote address, state (0A listens), queues, timer, retransmissions, user.
  const rows = [...rowsOf('/proc/net/tcp'), ...rowsOf('/proc/net/tcp6')].map((row) =>
    row.trim().split(/\s+/),
  );
  const at = port.toString(16).toUpperCase().padStart(4, '0');
  // In the byte order of the machine; behind the exact address those that receive what is sent to it, too.
  const places = ['0100007F', '7F000001', `${'0'.repeat(16)}FFFF00000100007F`, '0'.repeat(8), '0'.repeat(32)];
  const found = places.flatMap(
    (place) => rows.find(([, local, , state]) => state === '0A' && local === `${place}:${at}`) ?? [],
  );
  return found[7] === undefined ? undefined : Number(found[7]);
}

/** Returns no rows if the system does not have them, as without IPv6. */
function rowsOf(table: string): string[] {
  return ifPossible(() => readFileSync(table, 'utf8').split('\n')) ?? [];
}

/**
 * Takes the lock of a store, an existing path without links, and ends the server that a killed process left on it. Throws
 * ThroughlineError `store_in_use` with the holder's process, and the file system's error.
 */
export async function lockStore(
  storeDir: string,
  say: (line: string) => void = () => {},
): Promise<StoreLock> {
  const [file, next] = [join(storeDir, PID_FILE), join(storeDir, NEXT_FILE)];
  const starter = identityOf(process.pid);
  for (;;) {
    const use = storeUse(storeDir);
    if (use?.by === 'orphan') {
      await stopOrphan(storeDir, use);
      say(
        `the nats-server that a killed process left on ${storeDir}, process ${use.server?.pid}, was stopped`,
      );
    } else if (use !== undefined) throw inUse(storeDir, use);
    if (createPrivateFile(next, JSON.stringify({ starter }))) {
      if (storeUse(storeDir) === undefined) replace(next, file);
      else rmSync(next, { force: true });
      if (isOurs(file, starter)) return heldLock(file, { starter });
    } else {
      const other = readNote(next);
      if (other !== undefined && !isRunning(other.starter)) rmSync(next, { force: true });
    }
    await sleep(1);
  }
}

function replace(next: string, file: string): void {
  try {
    renameSync(next, file);
  } catch (error) {
    // Another process took it for the rest of a crash: the file tells who holds the lock.
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

function isOurs(file: string, { pid, started }: ProcessIdentity): boolean {
  const { starter } = readNote(file) ?? {};
  return starter?.pid === pid && starter.started === started;
}

function heldLock(file: string, initial: StoreNote): StoreLock {
  let note = initial;
  return {
    note(more) {
      note = { ...note, ...more };
      writePrivateFile(file, JSON.stringify(note));
    },
    release() {
      if (isOurs(file, note.starter)) rmSync(file, { force: true });
    },
  };
}

function inUse(storeDir: string, use: StoreUse): ThroughlineError {
  const { pid } = use.starter;
  const who =
    use.by === 'starter'
      ? `process ${pid}, which is starting a nats-server on it: stop it ("kill ${pid}")`
      : `the nats-server at ${use.url}, process ${use.server?.pid}, which process ${pid} started: stop that ("throughline down" where it was started with --detach, or else "kill ${pid}"), use it (NATS_URL=${use.url})`;
  const message = `the store ${storeDir} is in use by ${who}, or choose another with --store`;
  return new ThroughlineError('store_in_use', message, { details: { use } });
}

/** Signals a store's process; one that has just ended is not a fault. Throws `store_in_use` if it may not be signalled. */
export function signalHolder(
  storeDir: string,
  holder: ProcessIdentity,
  signal: 'SIGTERM' | 'SIGKILL' | 'SIGHUP',
): void {
  let cause: unknown;
  try {
    if (signalRecorded(holder, signal) || !isRunning(holder)) return;
  } catch (error) {
    cause = error;
  }
  const why = cause === undefined ? 'its process cannot be identified' : `it fails with ${systemCode(cause)}`;
  throw cannotStop(storeDir, holder, why, cause);
}

function cannotStop(storeDir: string, { pid }: ProcessIdentity, why: string, cause?: unknown) {
  const what = `process ${pid}, which runs on ${storeDir}, cannot be stopped: ${why}; stop it by hand`;
  return new ThroughlineError('store_in_use', what, { cause });
}

/** Stops the orphaned server of a store: SIGTERM, SIGKILL after five seconds. Resolves at its end, or throws `store_in_use`. */
export async function stopOrphan(storeDir: string, { server }: StoreNote): Promise<void> {
  if (server === undefined) return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    signalHolder(storeDir, server, signal);
    const deadline = performance.now() + GRACE_MS;
    while (performance.now() < deadline) {
      if (!isRunning(server)) return;
      await sleep(POLL_MS);
    }
  }
  throw cannotStop(storeDir, server, 'it does not end');
}

const ID_FILE = 'throughline-store-id';

/** Returns the id of a store, which it keeps for life; gives it one if it has none. */
export function storeId(storeDir: string): string {
  const file = join(storeDir, ID_FILE);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const read = readRegularFile(file, MAX_NOTE);
    const id = read instanceof Buffer ? read.toString('utf8').trim() : '';
    if (/^[\da-f]{16}$/.test(id)) return id;
    if (read !== undefined) break;
    if (!existsSync(storeDir)) makePrivateFolder(storeDir);
    createPrivateFile(file, `${randomBytes(8).toString('hex')}\n`);
  }
  throw new ThroughlineError('store_unusable', `${file} does not hold the id of a store: remove it`);
}

export function serverNameOf(storeDir: string): string {
  return `throughline-${storeId(storeDir)}`;
}

/** User of the token once members have keys: a configuration has either a token or users. */
export const OWNER = 'owner';
export const TOKEN_FILE = 'throughline-token';
/** Kept, so that open pages go on after a restart. */
export const INSPECTOR_TOKEN_FILE = 'inspector-token';

/** Returns the token of the server on a store, or that of its inspector; undefined if it has none. */
export function tokenOf(storeDir: string, file = TOKEN_FILE): string | undefined {
  const token = textOrNone(join(storeDir, file), MAX_NOTE).trim();
  return /^[\w-]{16,256}$/.test(token) ? token : undefined;
}

export function keptToken(storeDir: string, file = TOKEN_FILE): string {
  const token = tokenOf(storeDir, file);
  if (token !== undefined) return token;
  const made = randomBytes(24).toString('base64url');
  writePrivateFile(join(storeDir, file), `${made}\n`);
  return made;
}

/** Returns `undefined` for a missing or unreadable note, such as one from a power failure. */
function readNote(file: string): StoreNote | undefined {
  const note = jsonOf(textOrNone(file, MAX_NOTE));
  return isNote(note) ? note : undefined;
}

function isNote(value: unknown): value is StoreNote {
  if (!isObject(value)) return false;
  const { starter, server, url, inspector = null } = value;
  const isPlace = url === undefined || (typeof url === 'string' && /^nats:\/\/[^@\s]+:\d+$/.test(url));
  const isPage = inspector === null || typeof inspector === 'string';
  return isIdentity(starter) && (server === undefined || isIdentity(server)) && isPlace && isPage;
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isObject(value)) return false;
  const { pid, started } = value;
  // Linux always tells the start time: a note without it is not ours, and may name any process.
  const isValidStart = typeof started === 'string' || (started === undefined && process.platform !== 'linux');
  return Number.isSafeInteger(pid) && Number(pid) > 1 && isValidStart;
}
