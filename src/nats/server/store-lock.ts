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
 * Two servers on one store overwrite each other's messages, so each takes a lock there before it starts.
 *
 * Locks are numbered files, `throughline-server.<n>.lock`, and only the highest counts. It is held while the server that
 * it names runs, and until that is ready while the process runs that starts it: what a crash left behind locks
 * nothing. A new lock has the next number and appears under it at once and whole, by a link, so that of two processes
 * which find the same old lock free only one gets the next. The highest number never goes away, not when its
 * server ends either: a process that looked long ago would otherwise get a number that came before another's.
 */
const ANSWER_WITHIN_MS = 500;

/** What is behind a lock. */
export type StoreUse =
  | { readonly by: 'starter'; readonly starter: ProcessIdentity }
  | { readonly by: 'server'; readonly server: LockedServer; readonly starter: ProcessIdentity }
  /** A server goes on though the process that would have stopped it was killed. */
  | { readonly by: 'orphan'; readonly server: LockedServer };

/** The lock of a store, held by this process until a server that is ready holds it. */
export interface StoreLock {
  /** Names the server that this process has just started: from now on either of both holds the lock. */
  handTo(server: Omit<LockedServer, 'started'>): void;
  /** Leaves the lock to the server alone, which is ready. */
  keep(): void;
  /** Gives it back, where no server came of it. */
  release(): void;
}

/**
 * Takes the lock of a store. `storeDir` exists, and has no symbolic links.
 *
 * @throws ThroughlineError `store_in_use` that names the process which has it, and the file system's error
 */
export async function lockStore(storeDir: string): Promise<StoreLock> {
  for (;;) {
    const highest = highestLock(storeDir);
    const use = highest === 0 ? undefined : await useOf(readNote(storeDir, highest));
    if (use !== undefined) throw inUse(storeDir, use);
    const number = highest + 1;
    if (create(storeDir, number, { starter: identityOf(process.pid) })) {
      // Others may have taken and left higher numbers since we looked: then we come too late.
      if (highestLock(storeDir) === number) return heldLock(storeDir, number);
      rmSync(pathOf(storeDir, number), { force: true });
    }
    await sleep(1);
  }
}

/** What uses a store, or `undefined`. `storeDir` exists. */
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
      // One that could not be started at all has no number.
      if (server.pid > 0) write({ starter, server: { ...server, ...identityOf(server.pid) } });
    },
    keep: () => write({ ...note, ready: true }),
    release() {
      try {
        write({ starter, released: true });
      } catch {
        // On a disk that takes nothing: it is free when this process has ended.
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

/** A server in a container lives on when the engine's command, which stands for it here, is killed. */
export async function answers({ host, port, serverName }: LockedServer): Promise<boolean> {
  // A store in a repository may name a server of strangers.
  return isOwnHost(host) && (await askServer(host, port, ANSWER_WITHIN_MS))?.server_name === serverName;
}

/** Returns true for an address of this machine. */
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

/** Whether the number was free. */
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

/** Written at once: a process that is killed leaves a whole note or none. */
function withDraft<T>(storeDir: string, note: LockNote, use: (draft: string) => T): T {
  const draft = join(storeDir, `throughline-server.${randomBytes(6).toString('hex')}.draft`);
  try {
    writeFileSync(draft, JSON.stringify(note), { flag: 'wx' });
    return use(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}
