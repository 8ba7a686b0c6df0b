import { access, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Environment } from './server-search.js';

/** A server version in numbers; `prerelease` holds what follows the dash, as in `RC.1`. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly prerelease: string | undefined;
}

const VERSION = /(?:^|[\sv:])(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?/;

/** Reads the first version in `text`: `2.15.0-RC.1`, `v2.9.10`, or the whole of `nats-server: v2.15.0`. */
export function parseServerVersion(text: string): ServerVersion | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), prerelease };
}

/** The version as the server spells it, without the `v`. */
export function formatServerVersion(version: ServerVersion): string {
  const core = `${version.major}.${version.minor}.${version.patch}`;
  return version.prerelease === undefined ? core : `${core}-${version.prerelease}`;
}

/**
 * Negative when `a` is older than `b`, 0 when they are equal, positive when newer. A prerelease is older than
 * its release.
 */
export function compareServerVersions(a: ServerVersion, b: ServerVersion): number {
  const core = a.major - b.major || a.minor - b.minor || a.patch - b.patch;
  if (core !== 0 || a.prerelease === b.prerelease) return core;
  if (a.prerelease === undefined) return 1;
  if (b.prerelease === undefined) return -1;
  return a.prerelease.localeCompare(b.prerelease, 'en', { numeric: true });
}

/** Whether `version` is at least the oldest server that Throughline accepts. */
export function isSupportedServer(version: string): boolean {
  return isAtLeast(version, NATS_SERVER_PIN.minimum);
}

/** Whether the server has fast ingest: publishes in batches, with one answer for many. */
export function hasFastIngest(version: string): boolean {
  return isAtLeast(version, '2.14.0');
}

function isAtLeast(version: string, minimum: string): boolean {
  const found = parseServerVersion(version);
  const needed = parseServerVersion(minimum);
  return found !== undefined && needed !== undefined && compareServerVersions(found, needed) >= 0;
}

/**
 * Refuses a server that is older than the accepted minimum, or whose version cannot be read.
 * `where` names the server in the message: a URL, a path or a variable.
 * Throws `server_unsupported`, naming the found and the needed version.
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
