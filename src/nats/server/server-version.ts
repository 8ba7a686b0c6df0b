import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { systemCode, ThroughlineError } from '../../contracts/errors.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const PINNED = '2.15.0';
const REPOSITORY = 'https://github.com/nats-io/nats-server';

/** The nats-server to install and test with, and the oldest supported one. `docker-compose.yml` repeats it, under test. */
export const NATS_SERVER_PIN = {
  version: PINNED,
  /** Batch direct get and the stream features in use are stable since then. */
  minimum: '2.12.0',
  image: `nats:${PINNED}`,
  goModule: 'github.com/nats-io/nats-server/v2',
  releaseBaseUrl: `${REPOSITORY}/releases/download/v${PINNED}`,
  releasePage: `${REPOSITORY}/releases/tag/v${PINNED}`,
  /** SHA-256 of `nats-server-v<version>-<key>.tar.gz` in hex, by `<os>-<arch>`. */
  releaseChecksums: {
    'linux-amd64': '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92',
    'linux-arm64': 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112',
    'darwin-amd64': '5bd8b59ca5bf93fab3da2c5843cf564cd6e2e291e22ae3b861746e7ebe259b95',
    'darwin-arm64': 'e1c4e22d70bd44abfa0bcb3c16f7cf0c66f648c2e728c58924e8a1ce88913cc8',
  },
} as const;

/** Returns the name of the release archive for a target such as `linux-amd64`, without `.tar.gz`; also its only folder. */
export function releaseName(target: string): string {
  return `nats-server-v${PINNED}-${target}`;
}

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

/** Throws `server_unsupported` for an old server or unreadable version; `where` names its URL, path or variable. */
export function requireSupportedServer(version: string, where: string): void {
  if (isSupportedServer(version)) return;
  throw new ThroughlineError(
    'server_unsupported',
    `${where} is nats-server ${version}: ${NATS_SERVER_PIN.minimum} or newer is needed`,
    { details: { found: version, needed: NATS_SERVER_PIN.minimum } },
  );
}

/** Returns the cache directory: `$XDG_CACHE_HOME/throughline` if absolute, else `<home>/.cache/throughline`. */
export function cacheDirOf(env: Environment, home: string): string {
  const xdg = env.XDG_CACHE_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : join(home, '.cache');
  return join(base, 'throughline');
}

/** Creates a folder with parents: Node's recursive `mkdir` loops forever in `/proc`. Throws the file system's error. */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (existsSync(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process may have just created it; a dangling link shows up when the folder is used.
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}
