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

export interface StartOptions {
  /** From `findNatsServer`. */
  readonly source: NatsServerSource;
  /** Directory of JetStream's data, `nats-server.conf` and `nats-server.log`; created if missing, never removed. */
  readonly storeDir: string;
  /** Default: 127.0.0.1. There is no password, so do not expose it without thought. */
  readonly host?: string | undefined;
  /** Default: 0, any free one. */
  readonly port?: number | undefined;
  /** Port of HTTP monitoring on the same host; 0 for any free one. Default: none. */
  readonly monitorPort?: number | undefined;
  readonly serverName?: string | undefined;
  /** Largest message in bytes. Default: the server's, 1 MiB. */
  readonly maxPayloadBytes?: number | undefined;
  /** Raw configuration, appended. */
  readonly extraConfig?: string | undefined;
  /** Called with one line when the server is ready and one when it has ended. Default: nothing. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface RunningServer {
  /** `nats://127.0.0.1:4222` */
  readonly url: string;
  readonly port: number;
  /** `http://127.0.0.1:8222`; undefined without `monitorPort`. */
  readonly monitorUrl: string | undefined;
  readonly pid: number;
  readonly storeDir: string;
  /** The server's log, appended to across restarts. */
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** SIGTERM, then SIGKILL after five seconds. Resolves once the process has ended. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process has ended. Idempotent. */
  kill(): Promise<void>;
}

const GRACE_MS = 5000;
const POLL_MS = 20;

/** Returns the server that still uses a store although its starter was killed; else `undefined`. */
export async function orphanOn(storeDir: string): Promise<LockedServer | undefined> {
  try {
    const use = await storeUse(await realpath(storeDir));
    return use?.by === 'orphan' ? use.server : undefined;
  } catch (error) {
    // Problems of the store are reported by the command that starts a server on it.
    if (systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/**
 * Stops an orphaned server: SIGTERM, then SIGKILL after five seconds. Resolves once it has ended.
 *
 * @throws ThroughlineError `store_in_use` if it may not be stopped or cannot be identified
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

/** System codes of a full disk or quota. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Creates the directory of a store if it is missing, and returns its real path, because two paths may lead to one store.
 *
 * @throws ThroughlineError `store_unusable`, or `store_full` on a full disk
 */
export function openStore(given: string): Promise<string> {
  const storeDir = resolve(given);
  return inStore(storeDir, async () => {
    await makeFolder(storeDir);
    return realpath(storeDir);
  });
}

/** Works on the files of a store and maps system errors to ours. */
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
