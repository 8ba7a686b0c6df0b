import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { makeFolder } from './make-folder.js';

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
