import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.js';
import { askServer } from './server-ready.js';
import { highestLock, type LockedServer, type LockNote, locksOf, pathOf, readNote } from './store-notes.js';

/**
 * Two servers on one store overwrite each other's messages, so each takes a lock before it starts.
 *
 * Locks are numbered files, `throughline-server.<n>.lock`; only the highest counts. It is held while its server runs, and, until
 * that is ready, while its starter runs: a crash leaves nothing locked. A new lock has the next number and appears atomically by
 * a hard link, so that only one of two processes that find a free lock gets the next. The highest number is never removed: a
 * process that looked long ago could otherwise reuse a number.
 */
const ANSWER_WITHIN_MS = 500;

export type StoreUse =
  | { readonly by: 'starter'; readonly starter: ProcessIdentity }
  | { readonly by: 'server'; readonly server: LockedServer; readonly starter: ProcessIdentity }
  /** The server still runs, although its starter was killed. */
  | { readonly by: 'orphan'; readonly server: LockedServer };

/** A store's lock, held by this process until its server is ready. */
export interface StoreLock {
  /** Records the server that this process has started: either of the two holds the lock now. */
  handTo(server: Omit<LockedServer, 'started'>): void;
  /** Transfers the lock to the server, which is ready. */
  keep(): void;
  /** Releases the lock if the start failed. */
  release(): void;
}

/**
 * Takes the lock of a store. `storeDir` must exist and contain no symbolic links.
 *
 * @throws ThroughlineError `store_in_use` with the holder's process, and the file system's error
 */
export async function lockStore(storeDir: string): Promise<StoreLock> {
  for (;;) {
    const highest = highestLock(storeDir);
    const use = highest === 0 ? undefined : await useOf(readNote(storeDir, highest));
    if (use !== undefined) throw inUse(storeDir, use);
    const number = highest + 1;
    if (create(storeDir, number, { starter: identityOf(process.pid) })) {
      // If others have taken and released higher numbers meanwhile, this one is too late.
      if (highestLock(storeDir) === number) return heldLock(storeDir, number);
      rmSync(pathOf(storeDir, number), { force: true });
    }
    await sleep(1);
  }
}

/** Returns the current use of a store, if any. `storeDir` must exist. */
export async function storeUse(storeDir: string): Promise<StoreUse | undefined> {
  const highest = highestLock(storeDir);
  return highest === 0 ? undefined : useOf(readNote(storeDir, highest));
}

function heldLock(storeDir: string, number: number): StoreLock {
  const starter = identityOf(process.pid);
  for (const lower of locksOf(storeDir)) {
    if (lower < number) rmSync(pathOf(storeDir, lower), { force: true });
  }
  let note: LockNote = { starter };
  const write = (next: LockNote) => {
    note = next;
    replace(storeDir, number, note);
  };
  return {
    handTo(server) {
      // A process that could not be started has no number.
      if (server.pid > 0) write({ starter, server: { ...server, ...identityOf(server.pid) } });
    },
    keep: () => write({ ...note, ready: true }),
    release() {
      try {
        write({ starter, released: true });
      } catch {
        // The disk is full: the lock becomes free when this process ends.
      }
    },
  };
}

async function useOf(note: LockNote | undefined): Promise<StoreUse | undefined> {
  if (note === undefined || note.released) return undefined;
  const { starter, server, ready } = note;
  const started = isRunning(starter);
  if (server !== undefined && (isRunning(server) || (await answers(server)))) {
    return started ? { by: 'server', server, starter } : { by: 'orphan', server };
  }
  return started && !ready ? { by: 'starter', starter } : undefined;
}

/** Detects a server in a container, which survives the engine's command that represents it here. */
export async function answers({ host, port, serverName }: LockedServer): Promise<boolean> {
  // A note in an untrusted repository may name a foreign server.
  return isOwnHost(host) && (await askServer(host, port, ANSWER_WITHIN_MS))?.server_name === serverName;
}

export function isOwnHost(host: string): boolean {
  if (['localhost', '0.0.0.0', '::'].includes(host) || (isIPv4(host) && host.startsWith('127.'))) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === host));
}

function inUse(storeDir: string, use: StoreUse): ThroughlineError {
  return new ThroughlineError(
    'store_in_use',
    `the store ${storeDir} is in use by ${toldUse(use)}, or choose another with --store`,
    {
      details: { use },
    },
  );
}

function toldUse(use: StoreUse): string {
  if (use.by === 'starter')
    return `process ${use.starter.pid}, which is starting a nats-server on it: stop it ("kill ${use.starter.pid}")`;
  const { pid, host, port } = use.server;
  const server = `the nats-server at ${host}:${port}, process ${pid}`;
  const connect = `use it (NATS_URL=nats://${host}:${port})`;
  return use.by === 'server'
    ? `${server}, which process ${use.starter.pid} started: stop that ("throughline down" where it was started with --detach, or else "kill ${use.starter.pid}"), ${connect}`
    : `${server}, left behind by a process that was killed: stop it ("throughline up --yes" does, and continues), ${connect}`;
}

function create(storeDir: string, number: number, note: LockNote): boolean {
  return withDraft(storeDir, note, (draft) => {
    try {
      linkSync(draft, pathOf(storeDir, number));
      return true;
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

function replace(storeDir: string, number: number, note: LockNote): void {
  withDraft(storeDir, note, (draft) => renameSync(draft, pathOf(storeDir, number)));
}

function withDraft<T>(storeDir: string, note: LockNote, use: (draft: string) => T): T {
  const draft = join(storeDir, `throughline-server.${randomBytes(6).toString('hex')}.draft`);
  try {
    writeFileSync(draft, JSON.stringify(note), { flag: 'wx' });
    return use(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}
