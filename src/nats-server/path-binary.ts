import { executableName, executablesOnPath, probeBinary } from './probe-binary.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Place } from './server-search.js';
import { isSupportedServer } from './server-version.js';

/**
 * The first `nats-server` on `PATH` that is new enough. Older ones, as Debian ships, are noted and left
 * alone.
 */
export const pathBinary: Place = {
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
