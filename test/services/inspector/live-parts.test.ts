import { describe, expect, it, vi } from 'vitest';
import { KeyThrottle } from '../../../src/services/inspector/live-feed.js';
import { fakeTimers } from '../../support/fake-timers.js';

fakeTimers();

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
