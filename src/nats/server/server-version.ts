import { existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import type { Environment } from './server-child.js';
import { NATS_SERVER_PIN } from './server-pin.js';

const VERSION = /(?:^|[\sv:])(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/;

/** Returns the first version in `text`: `2.15.0-RC.1` of `nats-server: v2.15.0-RC.1`. */
export function parseServerVersion(text: string): string | undefined {
  return VERSION.exec(text)?.[1];
}

/** Returns true from the oldest supported release on; a prerelease of that one is too old. */
export function isSupportedServer(version: string): boolean {
  const [core = '', prerelease] = parseServerVersion(version)?.split(/-(.*)/s) ?? [];
  const order = core.localeCompare(NATS_SERVER_PIN.minimum, 'en', { numeric: true });
  return core !== '' && (order > 0 || (order === 0 && prerelease === undefined));
}

/**
 * Throws `server_unsupported` for a server that is too old or has an unreadable version. `where` names it: a URL, path or
 * variable.
 */
export function requireSupportedServer(version: string, where: string): void {
  if (isSupportedServer(version)) return;
  throw new ThroughlineError(
    'server_unsupported',
    `${where} is nats-server ${version}: ${NATS_SERVER_PIN.minimum} or newer is needed`,
    { details: { found: version, needed: NATS_SERVER_PIN.minimum } },
  );
}

/**
 * Returns the cache directory: `$XDG_CACHE_HOME/throughline`, or `<home>/.cache/throughline`. Ignores a relative
 * `XDG_CACHE_HOME`, as its specification demands.
 */
export function cacheDirOf(env: Environment, home: string): string {
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(home, '.cache');
  return join(base, 'throughline');
}

/**
 * Puts one file into the cache atomically. `build` creates it in an empty folder and returns its path; it is then renamed to
 * `target`. Concurrent installs all succeed, and nobody sees an incomplete file. Throws the error of `build`.
 */
export async function installIntoCache(
  target: string,
  build: (folder: string) => Promise<string>,
): Promise<void> {
  const home = dirname(target);
  await makeFolder(home);
  // Next to the target: a rename is atomic only within a file system.
  const folder = await mkdtemp(join(home, '.installing-'));
  try {
    const built = await build(folder);
    await rename(built, target).catch(async (fault: unknown) => {
      // Windows refuses to replace a running program: the existing one is what we wanted.
      await access(target).catch(() => {
        throw fault;
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Creates a folder and its parents. Node's recursive `mkdir` loops forever on a system that reports a missing parent, as in
 * `/proc`.
 *
 * @param mode mode of created folders
 * @throws the file system's error
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (existsSync(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process may have just created it; a dangling link shows up when the folder is used.
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}
