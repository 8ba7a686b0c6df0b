import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { isRunning, signalRecorded } from './process-identity.js';
import type { Exit } from './server-child.js';
import type { NatsServerSource } from './server-search.js';
import { makeFolder } from './server-version.js';
import { storeUse } from './store-lock.js';
import type { LockedServer } from './store-notes.js';

/** How to start a server. */
export interface StartOptions {
  /** From `findNatsServer`. */
  readonly source: NatsServerSource;
  /** Holds JetStream's data, `nats-server.conf` and `nats-server.log`; made when missing, never removed. */
  readonly storeDir: string;
  /** Default: 127.0.0.1, which only this machine can reach. There is no password: think before you widen it. */
  readonly host?: string | undefined;
  /** Default: 0, a free one. */
  readonly port?: number | undefined;
  /** HTTP monitoring, on the same host; 0 is a free port. Default: none. */
  readonly monitorPort?: number | undefined;
  /** Default: a name made up for this run. */
  readonly serverName?: string | undefined;
  /** The largest message, in bytes. Default: the server's own, 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** How often JetStream syncs to disk: `always`, or as in `10s`. Default: the server's own, two minutes. */
  readonly syncInterval?: string | undefined;
  /** Configuration in the server's own language, added at the end as it is. */
  readonly extraConfig?: string | undefined;
  /** Gets one line when the server is ready, and one when it has ended. Default: nothing. */
  readonly log?: ((line: string) => void) | undefined;
}

/** A server that is ready, until it is stopped, killed, or ends by itself. */
export interface RunningServer {
  /** As in `nats://127.0.0.1:4222`. */
  readonly url: string;
  readonly port: number;
  /** As in `http://127.0.0.1:8222`; undefined without `monitorPort`. */
  readonly monitorUrl: string | undefined;
  readonly pid: number;
  readonly storeDir: string;
  /** What the server says: appended to, over restarts. */
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** SIGTERM, and after five seconds SIGKILL. Resolves once the process is gone; once more does nothing. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process is gone; once more does nothing. */
  kill(): Promise<void>;
}

const GRACE_MS = 5000;
const POLL_MS = 20;

/**
 * The server that goes on on a store though the process that would have stopped it was killed; `undefined` for a store
 * that is free, used as it should be, or not there yet.
 */
export async function orphanOn(storeDir: string): Promise<LockedServer | undefined> {
  try {
    const use = await storeUse(await realpath(storeDir));
    return use?.by === 'orphan' ? use.server : undefined;
  } catch (error) {
    // What is wrong with a store is said by what starts a server on it.
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/**
 * Stops such a server: SIGTERM, and after five seconds SIGKILL. Resolves once its process is gone.
 *
 * @throws ThroughlineError `store_in_use` when it may not be stopped, or not be told from another process
 */
export async function stopOrphan(server: LockedServer): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      if (!signalRecorded(server, signal)) {
        if (signal === 'SIGKILL' && !isRunning(server)) return;
        throw cannotStop(server, 'its process cannot be identified');
      }
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      throw cannotStop(server, `signalling it fails with ${systemCode(error)}`);
    }
    const deadline = performance.now() + GRACE_MS;
    while (performance.now() < deadline) {
      if (!isRunning(server)) return;
      await sleep(POLL_MS);
    }
  }
  throw cannotStop(server, 'it does not end');
}

function cannotStop({ pid, host, port }: LockedServer, why: string): ThroughlineError {
  return new ThroughlineError(
    'store_in_use',
    `the nats-server at ${host}:${port}, process ${pid}, cannot be stopped: ${why}; stop it by hand`,
  );
}

/** Codes of the system for a disk, or a part of it, that takes nothing more. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Makes the directory of a store where it is missing, and gives its one true path: two paths to one directory are one
 * store.
 *
 * @throws ThroughlineError `store_unusable`, or `store_full` where the disk takes nothing more
 */
export function openStore(given: string): Promise<string> {
  const storeDir = resolve(given);
  return inStore(storeDir, async () => {
    await makeFolder(storeDir);
    return realpath(storeDir);
  });
}

/** Works on the files of a store; the system's errors come out as ours. */
export async function inStore<T>(storeDir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw systemCode(error) === undefined ? error : storeFault(storeDir, error);
  }
}

function storeFault(storeDir: string, cause: unknown): ThroughlineError {
  const why = messageOf(cause);
  return NO_ROOM.has(systemCode(cause))
    ? new ThroughlineError(
        'store_full',
        `the store ${storeDir} cannot be written (${why}): make room on its disk, or choose another with --store`,
        { cause },
      )
    : new ThroughlineError(
        'store_unusable',
        `the store ${storeDir} cannot be used (${why}): choose another directory with --store`,
        { cause },
      );
}
