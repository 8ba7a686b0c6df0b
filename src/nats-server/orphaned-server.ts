import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode, ThroughlineError } from '../contracts/errors.js';
import { isRunning, signalRecorded } from './process-identity.js';
import { storeUse } from './store-lock.js';
import type { LockedServer } from './store-notes.js';

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
