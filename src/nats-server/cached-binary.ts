import { access } from 'node:fs/promises';
import { pinnedBinaryPath } from './pinned-binary.js';
import { probeBinary } from './probe-binary.js';
import { NATS_SERVER_PIN } from './server-pin.js';
import type { Place } from './server-search.js';

/**
 * The pinned server that an earlier search installed. A damaged one is passed over, and replaced by the next
 * install.
 */
export const cachedBinary: Place = {
  name: `nats-server ${NATS_SERVER_PIN.version} in the cache`,
  async look(options) {
    const path = pinnedBinaryPath(options);
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (!exists) return { reason: `no ${path}` };
    const probe = await probeBinary(path, options.env);
    if ('reason' in probe) return { reason: `${path} does not run: ${probe.reason}` };
    if (probe.version !== NATS_SERVER_PIN.version) return { reason: `${path} is ${probe.version}` };
    return { found: { path, version: probe.version, foundBy: 'cache' } };
  },
};
