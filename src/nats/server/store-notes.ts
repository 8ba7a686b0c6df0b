import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../contracts/errors.js';
import { readRegularFile } from '../../engine/files/user-state.js';
import { isObject } from '../../shared/is-object.js';
import { isRunning, type ProcessIdentity } from './process-identity.js';

/** The files in a store that say who uses it: read by every command that names no server, so without a schema library. */

/** A server that has the lock of its store. */
export interface LockedServer extends ProcessIdentity {
  readonly host: string;
  readonly port: number;
  readonly serverName: string;
}

export interface LockNote {
  /** The process that starts the server, and stops it. */
  readonly starter: ProcessIdentity;
  /** The server, from its start; not yet counted on until it is ready. */
  readonly server?: LockedServer;
  /** Set when the server is ready: until then its starter may try with another one. */
  readonly ready?: true;
  /** Set when no server came of it. */
  readonly released?: true;
}

const MAX_NOTE = 4096;
const LOCK_NAME = /^throughline-server\.(\d{1,15})\.lock$/;

export function pathOf(storeDir: string, number: number): string {
  return join(storeDir, `throughline-server.${number}.lock`);
}

/** The numbers of the locks in a store; none in a folder that is not there. */
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

/** `undefined` for one that is gone, or cannot be read: a machine that lost its power leaves such files. */
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

/** The server that runs on a store and is ready, as far as this machine's processes tell; or `undefined`. Asks no server. */
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
  // Linux always tells the start: a note without it is not ours, and may name any process.
  const isTold = typeof started === 'string' || (started === undefined && process.platform !== 'linux');
  return Number.isSafeInteger(pid) && Number(pid) > 1 && isTold;
}

function namesServer({ host, port, serverName }: Record<string, unknown>): boolean {
  return typeof host === 'string' && typeof port === 'number' && typeof serverName === 'string';
}
