import { describe, expect, it } from 'vitest';
import * as names from '../../../src/contracts/names.js';
import { isOwnStream } from '../../../src/nats/backup/own-streams.js';

describe('what a backup holds', () => {
  it('every stream and bucket that has a name is part of a backup', () => {
    const streams = Object.entries(names).flatMap(([key, value]) => {
      if (key.endsWith('_BUCKET')) return [`KV_${value}`];
      // Made by the doctor, and removed again.
      return key.endsWith('_STREAM') && key !== 'PROBE_STREAM' ? [String(value)] : [];
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
});
