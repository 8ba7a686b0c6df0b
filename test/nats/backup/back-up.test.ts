import { expect, it } from 'vitest';
import * as names from '../../../src/contracts/names.js';
import { newDirectory } from '../../../src/nats/backup/back-up.js';
import { subjectsOf } from '../../../src/nats/jetstream/topology.js';

it('every stream and bucket that has a name is part of a backup', () => {
  const streams = Object.entries(names).flatMap(([key, value]) => {
    // Leases belong to running processes, probe streams are removed again, and the manifest has the layout.
    if (['LEASE_BUCKET', 'PROBE_STREAM', 'INSTALLATION_BUCKET'].includes(key)) return [];
    if (key.endsWith('_BUCKET')) return [`KV_${value}`];
    return key.endsWith('_STREAM') ? [String(value)] : [];
  });
  expect(streams.length).toBeGreaterThan(5);
  expect(streams.filter((stream) => subjectsOf(stream) === undefined)).toEqual([]);
});

it('the logs of sessions are part of a backup in either layout, and streams of others are not', () => {
  for (const stream of ['SESSION_demo', 'SESSIONS_00', 'SESSIONS_ff'])
    expect(subjectsOf(stream)).toBeDefined();
  for (const stream of ['SESSION_a.b', 'SESSIONS_fff', 'KV_other', 'ORDERS', 'THROUGHLINE_PROBE'])
    expect(subjectsOf(stream)).toBeUndefined();
});

// Node's own recursive mkdir never returns there.
it.each(['/proc/backup', '/proc/backup/of/today'])(
  'the directory of a backup is refused where none can be made: %s',
  async (path) => {
    await expect(newDirectory(path)).rejects.toThrow(path);
  },
);
