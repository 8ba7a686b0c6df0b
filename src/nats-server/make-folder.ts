import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCode } from '../contracts/errors.js';

/**
 * Makes a folder where it is missing, with those above it.
 *
 * Node's own recursive `mkdir` never ends where a system takes no folder and says that its parent is missing, as in
 * `/proc`.
 *
 * @param mode its rights, where it is made, and those of the folders above it that are made
 * @throws the file system's error
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (await isThere(path)) return;
  await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process may have made it a moment before; a link that leads nowhere shows when the folder is used.
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}
