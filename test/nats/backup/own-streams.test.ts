import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import * as names from '../../../src/contracts/names.js';
import { isOwnStream, OWN_STREAMS } from '../../../src/nats/backup/backup-manifest.js';

describe('what a backup holds', () => {
  it('every stream and bucket that has a name is part of a backup', () => {
    const streams = Object.entries(names).flatMap(([key, value]) => {
      // Leases belong to running processes, and probe streams are removed again.
      if (['LEASE_BUCKET', 'PROBE_STREAM'].includes(key)) return [];
      if (key.endsWith('_BUCKET')) return [`KV_${value}`];
      return key.endsWith('_STREAM') ? [String(value)] : [];
    });
    expect(streams.length).toBeGreaterThan(10);
    expect(streams.filter((stream) => !isOwnStream(stream))).toEqual([]);
  });

  it('the logs of sessions are part of it in either layout, and streams of others are not', () => {
    for (const stream of ['SESSION_demo', 'SESSIONS_00', 'SESSIONS_ff'])
      expect(isOwnStream(stream)).toBe(true);
    for (const stream of ['SESSION_a.b', 'SESSIONS_fff', 'KV_other', 'ORDERS', 'THROUGHLINE_PROBE'])
      expect(isOwnStream(stream)).toBe(false);
  });

  it('grep finds the same streams by a pattern', () => {
    const known = Object.values(names).filter((value) => typeof value === 'string');
    const all = [...known, ...known.map((name) => `KV_${name}`), ...known.map((name) => `${name}_X`)];
    all.push(
      'SESSION_demo',
      `SESSION_${'x'.repeat(64)}`,
      `SESSION_${'x'.repeat(65)}`,
      'SESSION_',
      'SESSION_a.b',
    );
    all.push(
      'SESSIONS_00',
      'SESSIONS_ff',
      'SESSIONS_fff',
      'SESSIONS_',
      'MY_SESSION_demo',
      'ORDERS',
      'KV_other',
    );
    const found = execFileSync('grep', ['-E', OWN_STREAMS], { input: all.join('\n'), encoding: 'utf8' });
    expect(found.trimEnd().split('\n')).toEqual(all.filter(isOwnStream));
  });
});
