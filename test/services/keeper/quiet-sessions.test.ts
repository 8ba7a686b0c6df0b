import { describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { QuietSessions } from '../../../src/services/keeper/session-keeper.js';
import * as fc from '../../support/properties.js';

const TIMES = { quietMs: 5, busyMs: 15, restMs: 60 };
const A = token('a', 'session');
const B = token('b', 'session');

describe('which sessions are folded when', () => {
  it('one that went quiet is folded once, and once more when it rests', () => {
    const quiet = new QuietSessions(TIMES);
    quiet.moved(A, 0);
    quiet.moved(A, 3);
    expect(quiet.take(7, 9)).toEqual([]);
    expect(quiet.take(8, 9)).toEqual([{ session: A, rests: false }]);
    expect(quiet.take(62, 9)).toEqual([]);
    expect(quiet.take(63, 9)).toEqual([{ session: A, rests: true }]);
    expect([quiet.take(1000, 9), quiet.size]).toEqual([[], 0]);
  });

  it('one that moves all the time is folded from time to time', () => {
    const quiet = new QuietSessions(TIMES);
    const folded: number[] = [];
    for (let now = 0; now < 60; now += 1) {
      quiet.moved(A, now);
      for (const _ of quiet.take(now, 9)) folded.push(now);
    }
    expect(folded).toEqual([15, 31, 47]);
  });

  it('one that has rested for long is folded at once, and no more than asked for are taken', () => {
    const quiet = new QuietSessions(TIMES);
    quiet.moved(A, -1000);
    quiet.moved(B, -1000);
    expect(quiet.take(0, 1)).toEqual([{ session: A, rests: true }]);
    expect(quiet.take(0, 1)).toEqual([{ session: B, rests: true }]);
  });

  it('whenever a session moves and however often is looked, it is folded in time, and after its last move', () => {
    const gaps = fc.array(fc.nat({ max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 7 }), (between, step) => {
        const quiet = new QuietSessions(TIMES);
        let now = 0;
        let waitsSince: number | undefined;
        for (const gap of between) {
          quiet.moved(A, now);
          waitsSince ??= now;
          for (const end = now + gap; now < end; now += 1) {
            if (now % step !== 0) continue;
            if (quiet.take(now, 9).length > 0) waitsSince = undefined;
            expect(now - (waitsSince ?? now)).toBeLessThan(TIMES.busyMs + step);
          }
        }
        quiet.moved(A, now);
        expect(quiet.take(now + TIMES.restMs, 9)).toEqual([{ session: A, rests: true }]);
      }),
    );
  });
});
