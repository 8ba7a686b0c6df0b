import { resolve } from 'node:path';
import { ThroughlineError } from '../contracts/errors.js';
import { probeBinary } from './probe-binary.js';
import type { Place } from './server-search.js';
import { requireSupportedServer } from './server-version.js';

/**
 * The path that `NATS_SERVER_BIN` names. It was named on purpose: if it does not work, the search ends.
 * Throws `config_invalid` when it cannot be run, `server_unsupported` when it is too old.
 */
export const namedBinary: Place = {
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
