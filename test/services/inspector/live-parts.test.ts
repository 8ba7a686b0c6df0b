import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HealthShown } from '../../../src/contracts/replies/health-reply.js';
import { HealthHistory } from '../../../src/services/inspector/health-history.js';
import { KeyThrottle } from '../../../src/services/inspector/live-feed.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a throttle by key', () => {
  it('a throttle tells the first at once, then the newest at most every so often, and once more when it is quiet', () => {
    const told: number[] = [];
    const throttle = new KeyThrottle<number>({
      everyMs: 100,
      settledMs: 1000,
      tell: (each) => told.push(each),
    });
    for (const each of [1, 2, 3]) throttle.push('a', each);
    expect(told).toEqual([1]);
    vi.advanceTimersByTime(100);
    expect(told).toEqual([1, 3]);
    vi.advanceTimersByTime(100);
    throttle.push('a', 4);
    expect(told).toEqual([1, 3, 4]);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([1, 3, 4, 4]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a throttle holds each key apart, and tells nothing once it is cleared', () => {
    const told: string[] = [];
    const throttle = new KeyThrottle<string>({
      everyMs: 100,
      settledMs: 1000,
      tell: (each) => told.push(each),
    });
    throttle.push('a', 'a1');
    throttle.push('b', 'b1');
    throttle.push('a', 'a2');
    throttle.clear();
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual(['a1', 'b1']);
  });
});

describe('the health of the last hour', () => {
  const shown = (at: number, more: Partial<HealthShown> = {}) =>
    ({ at: new Date(at).toISOString(), services: [], missing: [], ...more }) as HealthShown;

  it('the history gives rates between two moments, and leaves out what is not known', async () => {
    const answers = [
      shown(0, { rejected: 2 }),
      shown(10_000, { rejected: 7 }),
      shown(20_000, { rejected: 3 }),
      shown(30_000),
    ];
    const history = new HealthHistory(async () => answers.shift() ?? Promise.reject(new Error('gone')));
    for (let moment = 0; moment < 5; moment += 1) await history.look();
    expect(history.reply).toEqual({
      everyMs: 10_000,
      points: [
        { at: new Date(0).toISOString() },
        { at: new Date(10_000).toISOString(), rejectedPerSecond: 0.5 },
        { at: new Date(20_000).toISOString(), rejectedPerSecond: 0 },
        { at: new Date(30_000).toISOString() },
      ],
    });
  });

  it('the history gives the rate of compiles and their mean time, over all compilers', async () => {
    const compilers = (...compiled: { count: number; ms: number }[]) =>
      ({ services: compiled.map((each) => ({ numbers: { compiled: each } })) }) as unknown as HealthShown;
    const answers = [
      shown(0, compilers({ count: 10, ms: 50 }, { count: 0, ms: 0 })),
      shown(10_000, compilers({ count: 20, ms: 100 }, { count: 10, ms: 150 })),
      shown(20_000, compilers({ count: 20, ms: 100 }, { count: 10, ms: 150 })),
    ];
    const history = new HealthHistory(async () => answers.shift() ?? Promise.reject(new Error('gone')));
    for (let moment = 0; moment < 3; moment += 1) await history.look();
    expect(history.reply.points.slice(1)).toEqual([
      expect.objectContaining({ compilesPerSecond: 2, compileMsMean: 10 }),
      { at: new Date(20_000).toISOString(), compilesPerSecond: 0 },
    ]);
  });

  it('the history tells how far the newest snapshot is behind the newest result, and nothing without one', async () => {
    const [earlier, later] = [new Date(4_000).toISOString(), new Date(9_000).toISOString()];
    const answers = [
      [later, earlier],
      [earlier, later],
      [later, undefined],
    ].map(([result, snapshot], moment) =>
      shown(moment * 10_000, {
        dispatches: { newest: 1, newestAt: result, stored: 1, consumers: [] },
        snapshots: { kept: 1, ...(snapshot && { newestAt: snapshot }) },
      } as Partial<HealthShown>),
    );
    const history = new HealthHistory(async () => answers.shift() ?? Promise.reject(new Error('gone')));
    for (let moment = 0; moment < 3; moment += 1) await history.look();
    expect(history.reply.points.map(({ snapshotLag }) => snapshotLag)).toEqual([5, 0, undefined]);
  });

  it('the history holds an hour and no more', async () => {
    let moment = 0;
    const history = new HealthHistory(async () => {
      moment += 1;
      return shown(moment * 10_000);
    });
    for (let each = 0; each < 500; each += 1) await history.look();
    expect(history.reply.points).toHaveLength(360);
    expect(history.reply.points.at(-1)?.at).toBe(new Date(5_000_000).toISOString());
  });
});
