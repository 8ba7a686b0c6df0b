import { access, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Environment } from './server-search.js';

/** `prerelease` is the part behind the dash, as in `RC.1`. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly prerelease: string | undefined;
}

const VERSION = /(?:^|[\sv:])(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?/;

/** Parses the first version in `text`: `2.15.0-RC.1`, `v2.9.10`, or all of `nats-server: v2.15.0`. */
export function parseServerVersion(text: string): ServerVersion | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), prerelease };
}

export function formatServerVersion(version: ServerVersion): string {
  const core = `${version.major}.${version.minor}.${version.patch}`;
  return version.prerelease === undefined ? core : `${core}-${version.prerelease}`;
}

/** Returns a negative number if `a` is older than `b`, 0 if equal, positive if newer. A prerelease precedes its release. */
export function compareServerVersions(a: ServerVersion, b: ServerVersion): number {
  const core = a.major - b.major || a.minor - b.minor || a.patch - b.patch;
  if (core !== 0 || a.prerelease === b.prerelease) return core;
  if (a.prerelease === undefined) return 1;
  if (b.prerelease === undefined) return -1;
  return a.prerelease.localeCompare(b.prerelease, 'en', { numeric: true });
}

export function isSupportedServer(version: string): boolean {
  const found = parseServerVersion(version);
  const needed = parseServerVersion(NATS_SERVER_PIN.minimum);
  return found !== undefined && needed !== undefined && compareServerVersions(found, needed) >= 0;
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
  if (await isThere(path)) return;
  await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process may have just created it; a dangling link shows up when the folder is used.
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
