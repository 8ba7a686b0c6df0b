import { join } from 'node:path';
import { messageOf } from '../contracts/errors.js';
import { installIntoCache } from './binary-cache.js';
import { executableName, probeBinary } from './probe-binary.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Attempt, FindOptions } from './server-search.js';

/**
 * Where the pinned server is in the cache. The version is in the path: a new pin leaves running servers
 * alone.
 */
export function pinnedBinaryPath(options: FindOptions): string {
  const folder = join(options.cacheDir, `nats-server-${NATS_SERVER_PIN.version}`);
  return join(folder, executableName('nats-server', options.platform));
}

/**
 * Installs the pinned server into the cache: `build` makes the binary in the folder that it gets and returns
 * its path. A binary that does not run, or is of another version, never reaches the cache.
 */
export async function installPinned(
  options: FindOptions,
  foundBy: 'go install' | 'release archive',
  build: (folder: string) => Promise<string>,
): Promise<Attempt> {
  const path = pinnedBinaryPath(options);
  try {
    await installIntoCache(path, async (folder) => {
      const built = await build(folder);
      const probe = await probeBinary(built, options.env);
      if ('reason' in probe) throw new Error(`the installed server does not run: ${probe.reason}`);
      if (probe.version !== NATS_SERVER_PIN.version)
        throw new Error(`installed ${probe.version}, not ${NATS_SERVER_PIN.version}`);
      return built;
    });
    return { found: { path, version: NATS_SERVER_PIN.version, foundBy } };
  } catch (fault) {
    return { reason: messageOf(fault) };
  }
}
