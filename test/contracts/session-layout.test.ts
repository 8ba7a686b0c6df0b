import { describe, expect, it } from 'vitest';
import {
  isShardCount,
  MAX_SHARDS,
  PER_SESSION,
  publishedOn,
  sessionOfSubject,
  shardOf,
  shardOfStream,
  shardStream,
  streamOf,
  token,
} from '../../src/contracts/names.js';
import { resultPath } from '../../src/contracts/session-events.js';

const named = (name: string) => token(name, 'session');
const SHARDED = { layout: 'sharded', shards: 64 } as const;

describe('the shard of a session', () => {
  it('the shard of a session never changes', () => {
    const shards = ['demo', 'a', 'team-1_session', 'z'.repeat(64)].map((name) => shardOf(named(name), 64));
    expect(shards).toMatchInlineSnapshot(`
      [
        11,
        32,
        41,
        1,
      ]
    `);
  });

  it('the shard of a session spreads names that differ little', () => {
    for (const shards of [16, 64, 256]) {
      const counts = new Array<number>(shards).fill(0);
      for (let index = 0; index < 10_000; index += 1) {
        const shard = shardOf(named(`session-${index}`), shards);
        counts[shard] = (counts[shard] ?? 0) + 1;
      }
      const fair = 10_000 / shards;
      expect(Math.min(...counts)).toBeGreaterThan(fair / 3);
      expect(Math.max(...counts)).toBeLessThan(fair * 2);
    }
  });

  it('numbers of shards are powers of two up to 256', () => {
    const counts = Array.from({ length: 300 }, (_, count) => count).filter(isShardCount);
    expect(counts).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  });
});

describe('the names of a layout', () => {
  it('a stream per session takes what is published under the session itself', () => {
    expect(streamOf(PER_SESSION, named('demo'))).toBe('SESSION_demo');
    expect(publishedOn(PER_SESSION, named('demo'), 'task.added')).toBe('session.demo.task.added');
    expect(publishedOn(PER_SESSION, named('demo'), resultPath(130))).toBe('session.demo.result.2');
  });

  it('a shard takes what is published under its number', () => {
    const digits = shardOf(named('demo'), 64).toString(16).padStart(2, '0');
    expect(streamOf(SHARDED, named('demo'))).toBe(`SESSIONS_${digits}`);
    expect(publishedOn(SHARDED, named('demo'), 'task.added')).toBe(`sessions.${digits}.demo.task.added`);
  });

  it('a shard is known by the name of its stream, and no other stream is one', () => {
    for (const shard of [0, 7, 63, MAX_SHARDS - 1]) expect(shardOfStream(shardStream(shard))).toBe(shard);
    for (const name of 'SESSION_07 SESSIONS_ SESSIONS_7 SESSIONS_0G SESSIONS_007 XSESSIONS_07'.split(' ')) {
      expect(shardOfStream(name)).toBeUndefined();
    }
  });

  it('a session is known by the subject of its events', () => {
    expect(sessionOfSubject('session.demo.fact.recorded')).toBe('demo');
    for (const subject of ['session.demo', 'session.', 'sessions.07.a.x', 'dispatch.demo.x', 'session.*.x']) {
      expect(sessionOfSubject(subject)).toBeUndefined();
    }
  });
});
