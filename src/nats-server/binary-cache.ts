import { access, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { makeFolder } from './make-folder.js';
import type { Environment } from './server-search.js';

/**
 * Where what Throughline installs is kept: `$XDG_CACHE_HOME/throughline`, else `<home>/.cache/throughline`. Always
 * absolute; a relative `XDG_CACHE_HOME` is ignored, as its specification asks.
 */
export function cacheDirOf(env: Environment, home: string): string {
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(home, '.cache');
  return join(base, 'throughline');
}

/**
 * Puts one file into the cache in one step. `build` gets an empty folder and returns the path of the finished
 * file in it; the file is then renamed to `target`. Processes that install the same thing at once both succeed,
 * and none ever sees half a file. Throws what `build` throws; the folder is removed in any case.
 */
export async function installIntoCache(
  target: string,
  build: (folder: string) => Promise<string>,
): Promise<void> {
  const home = dirname(target);
  await makeFolder(home);
  // Beside the target, since a rename is atomic only within one file system.
  const folder = await mkdtemp(join(home, '.installing-'));
  try {
    const built = await build(folder);
    await rename(built, target).catch(async (fault: unknown) => {
      // Windows refuses to replace a running program: then the one that is there is the one we wanted.
      await access(target).catch(() => {
        throw fault;
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
