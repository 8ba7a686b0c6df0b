import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TimelineEntry } from '../../../src/contracts/replies/dispatch-result.js';
import type { HealthShown } from '../../../src/contracts/replies/health-reply.js';
import { HealthHistory } from '../../../src/services/inspector/health-history.js';
import { KeyThrottle } from '../../../src/services/inspector/live-feed.js';
import { type Newer, SessionFollower } from '../../../src/services/inspector/session-follower.js';

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

describe('a session that is followed', () => {
  const entry = (sequence: number) => ({ key: `e${sequence}`, sequence }) as TimelineEntry;
  function followed(replies: (Newer | Error)[]) {
    const asked: (number | undefined)[] = [];
    const told: number[] = [];
    const lost = vi.fn();
    const follower = new SessionFollower({
      async ask(after) {
        asked.push(after);
        const reply = replies.shift() ?? { entries: [], sequence: after ?? 0, isCut: false };
        if (reply instanceof Error) throw reply;
        return reply;
      },
      tell: ({ sequence }) => told.push(sequence),
      lost,
    });
    return { follower, asked, told, lost };
  }
  const newer = (sequence: number, entries: number[], isCut = false): Newer => ({
    sequence,
    entries: entries.map(entry),
    isCut,
  });

  it('a session that is followed tells what is new since the beginning, the oldest first', async () => {
    const { follower, asked, told } = followed([newer(7, [7]), newer(9, [8, 9])]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toEqual([]);
    follower.poke();
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toEqual([8, 9]);
    expect(asked).toEqual([undefined, 7, 9]);
  });

  it('an event that is heard of before it is stored is asked for again', async () => {
    const { follower, told, asked } = followed([newer(7, []), newer(7, []), newer(7, []), newer(8, [8])]);
    await vi.advanceTimersByTimeAsync(0);
    follower.poke();
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toEqual([8]);
    expect(asked).toEqual([undefined, 7, 7, 7, 8]);
  });

  it('an event that comes while the answer to another is on its way is asked for as well', async () => {
    const { follower, told, asked } = followed([newer(7, []), newer(8, [8]), newer(9, [9])]);
    await vi.advanceTimersByTimeAsync(0);
    follower.poke();
    follower.poke();
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual([8, 9]);
    expect(asked).toEqual([undefined, 7, 8]);
    follower.close();
  });

  it('what happens before it is known where the timeline stands is told as lost, since the answer may hold it already', async () => {
    const { follower, told, lost } = followed([newer(8, [8])]);
    follower.poke();
    await vi.advanceTimersByTimeAsync(5000);
    expect(told).toEqual([]);
    expect(lost).toHaveBeenCalledTimes(1);
  });

  it('a session where too much happened says that something was lost, and nothing of it', async () => {
    const { follower, told, lost } = followed([newer(7, []), newer(900, [899, 900], true)]);
    await vi.advanceTimersByTimeAsync(0);
    follower.poke();
    await vi.advanceTimersByTimeAsync(5000);
    expect(lost).toHaveBeenCalledTimes(1);
    expect(told).toEqual([]);
  });

  it('a question that fails is asked again, and what came in between is told as lost', async () => {
    const { follower, told, asked, lost } = followed([newer(7, []), new Error('gone'), newer(20, [20])]);
    await vi.advanceTimersByTimeAsync(0);
    follower.poke();
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked.slice(0, 3)).toEqual([undefined, 7, undefined]);
    expect(told).toEqual([]);
    expect(lost).toHaveBeenCalledTimes(1);
  });

  it('a session that nobody follows any longer is not asked about', async () => {
    const { follower, asked } = followed([]);
    await vi.advanceTimersByTimeAsync(0);
    follower.close();
    follower.poke();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
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
