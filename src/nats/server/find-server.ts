import { resolve } from 'node:path';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  executableName,
  executablesOnPath,
  type FindOptions,
  goInstall,
  type NatsServerSource,
  type Place,
  pinnedBinaryPath,
  probeBinary,
  releaseArchive,
} from './install-server.js';
import { isSupportedServer, NATS_SERVER_PIN, requireSupportedServer } from './server-version.js';

/** The pinned server that an earlier search installed. A damaged one is skipped, and replaced by the next install. */
const cachedBinary: Place = {
  name: `nats-server ${NATS_SERVER_PIN.version} in the cache`,
  async look(options) {
    const path = pinnedBinaryPath(options);
    const probe = await probeBinary(path, options.env);
    if ('reason' in probe) return { reason: `${path} does not run: ${probe.reason}` };
    if (probe.version !== NATS_SERVER_PIN.version) return { reason: `${path} is ${probe.version}` };
    return { found: { path, version: probe.version, foundBy: 'cache' } };
  },
};

/** The path in `NATS_SERVER_BIN`. A failure ends the search: `config_invalid` if it cannot run, `server_unsupported` if old. */
const namedBinary: Place = {
  name: 'NATS_SERVER_BIN',
  async look({ env }) {
    const value = env.NATS_SERVER_BIN;
    if (value === undefined || value === '') return { reason: 'not set' };
    const path = resolve(value);
    const probe = await probeBinary(path, env);
    if ('reason' in probe) {
      throw new ThroughlineError(
        'config_invalid',
        `NATS_SERVER_BIN=${value} is not a nats-server that runs (${probe.reason}): correct the path, or unset it`,
        { details: { variable: 'NATS_SERVER_BIN', value, reason: probe.reason } },
      );
    }
    requireSupportedServer(probe.version, `NATS_SERVER_BIN=${value}`);
    return { found: { path, version: probe.version, foundBy: 'NATS_SERVER_BIN' } };
  },
};

/** The first `nats-server` on `PATH` that is new enough. Older ones, such as Debian's, are reported and skipped. */
const pathBinary: Place = {
  name: 'nats-server on PATH',
  async look({ env, platform, progress }) {
    const reasons: string[] = [];
    for (const path of await executablesOnPath(executableName('nats-server', platform), env)) {
      const probe = await probeBinary(path, env);
      if ('version' in probe && isSupportedServer(probe.version)) {
        return { found: { path, version: probe.version, foundBy: 'PATH' } };
      }
      const reason =
        'version' in probe
          ? `${path} is ${probe.version}, and ${NATS_SERVER_PIN.minimum} or newer is needed`
          : `${path} does not run: ${probe.reason}`;
      progress?.(`note: ${reason}; it is not used`);
      reasons.push(reason);
    }
    return { reason: reasons.length === 0 ? 'none' : reasons.join('; ') };
  },
};

/** The error of a failed search: `server_missing`, with every place tried and advice. */
function serverMissing(tried: readonly { place: string; reason: string }[]): ThroughlineError {
  const { version, minimum, goModule, image, releasePage } = NATS_SERVER_PIN;
  const lines = [
    'no NATS server could be found or installed. Tried, in order:',
    ...tried.map(({ place, reason }) => `  - ${place}: ${reason}`),
    `Install one, ${minimum} or newer (${version} is what Throughline is tested with), and try again:`,
    '  macOS           brew install nats-server',
    '  Debian, Ubuntu  their own package is too old: use the release archive (below), or go install',
    `  with Go         go install ${goModule}@v${version}`,
    `  with Docker     docker run -p 127.0.0.1:4222:4222 ${image} -js, then NATS_URL=nats://127.0.0.1:4222`,
    `  any platform    ${releasePage}, then NATS_SERVER_BIN=<path of nats-server>`,
    'or use a server that is already running: NATS_URL=nats://<host>:4222',
  ];
  return new ThroughlineError('server_missing', lines.join('\n'), { details: { tried } });
}

/** In order: set by the user, already there, downloaded in seconds, built in a minute or two. */
const PLACES: readonly Place[] = [namedBinary, pathBinary, cachedBinary, releaseArchive, goInstall];

/**
 * Finds a nats-server that `startNatsServer` can start, and installs the pinned one into `cacheDir` if there is none.
 *
 * Throws `server_missing` if every place failed, and `config_invalid` or `server_unsupported` if `NATS_SERVER_BIN` does not
 * work. A running server (`NATS_URL`) is the caller's business.
 */
export async function findNatsServer(options: FindOptions): Promise<NatsServerSource> {
  const tried: { place: string; reason: string }[] = [];
  for (const place of PLACES) {
    const attempt = await place.look(options);
    if ('found' in attempt) return attempt.found;
    tried.push({ place: place.name, reason: attempt.reason });
  }
  throw serverMissing(tried);
}
