import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../contracts/errors.js';
import { readRegularFile } from '../../engine/files/user-state.js';
import { isObject } from '../../shared/text.js';
import { isRunning, type ProcessIdentity } from './process-identity.js';

/** Notes in a store about its users. Read by every command without a server option, and therefore without a schema library. */

export interface LockedServer extends ProcessIdentity {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
}

export interface LockNote {
  readonly starter: ProcessIdentity;
  /** Set from its start, before it is ready. */
  readonly server?: LockedServer;
  /** Set when the server is ready; before that, its starter may retry with another one. */
  readonly ready?: true;
  /** Set if the start failed. */
  readonly released?: true;
}

const MAX_NOTE = 4096;
const LOCK_NAME = /^throughline-server\.(\d{1,15})\.lock$/;

export function pathOf(storeDir: string, number: number): string {
  return join(storeDir, `throughline-server.${number}.lock`);
}

/** Returns the numbers of the locks in a store; none if the folder is missing. */
export function locksOf(storeDir: string): number[] {
  let names: string[];
  try {
    names = readdirSync(storeDir);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names.flatMap((name) => {
    const number = LOCK_NAME.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

export function highestLock(storeDir: string): number {
  return Math.max(0, ...locksOf(storeDir));
}

/** Returns `undefined` for a missing or unreadable note, such as one from a power failure. */
export function readNote(storeDir: string, number: number): LockNote | undefined {
  try {
    const read = readRegularFile(pathOf(storeDir, number), MAX_NOTE);
    if (!(read instanceof Buffer)) return undefined;
    const note: unknown = JSON.parse(read.toString('utf8'));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the ready server on a store according to its note and this machine's processes, without asking the server. */
export function serverOnStore(storeDir: string): LockedServer | undefined {
  const highest = highestLock(storeDir);
  const { server, ready, released } = (highest === 0 ? undefined : readNote(storeDir, highest)) ?? {};
  if (server === undefined || !ready || released) return undefined;
  return isRunning(server) ? server : undefined;
}

function isNote(value: unknown): value is LockNote {
  if (!isObject(value)) return false;
  const { starter, server, ready = true, released = true } = value;
  const isServer = server === undefined || (isIdentity(server) && namesServer(server));
  return isIdentity(starter) && isServer && ready === true && released === true;
}

function isIdentity(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const { pid, started } = value;
  // Linux always tells the start time: a note without it is not ours, and may name any process.
  const isTold = typeof started === 'string' || (started === undefined && process.platform !== 'linux');
  return Number.isSafeInteger(pid) && Number(pid) > 1 && isTold;
}

function namesServer({ host, port, serverName }: Record<string, unknown>): boolean {
  return typeof host === 'string' && typeof port === 'number' && typeof serverName === 'string';
}
