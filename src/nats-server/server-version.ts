import { ThroughlineError } from '../contracts/errors.js';
import { NATS_SERVER_PIN } from './server-pin.js';

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
