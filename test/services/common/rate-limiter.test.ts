import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { rateLimiter } from '../../../src/services/common/request-guard.js';
import * as fc from '../../support/properties.js';

function limiterOf(perSecond: number) {
  const clock = { ms: 0 };
  const limiter = rateLimiter({ perSecond, now: () => clock.ms });
  const admitted = (session: string) => {
    try {
      limiter(session);
      return true;
    } catch (error) {
      if (error instanceof ThroughlineError && error.code === 'rate_limited') return false;
      throw error;
    }
  };
  return { clock, limiter, admitted };
}

function times(count: number, admitted: () => boolean): number {
  return Array.from({ length: count }, admitted).filter((each) => each).length;
}

describe('a rate limiter', () => {
  it('the rate limiter lets a session ask twice its rate at once, and then its rate', () => {
    const { clock, admitted } = limiterOf(10);
    expect(times(100, () => admitted('a'))).toBe(20);
    clock.ms += 500;
    expect(times(100, () => admitted('a'))).toBe(5);
    clock.ms += 60_000;
    expect(times(100, () => admitted('a'))).toBe(20);
  });

  it('the rate limiter lets other sessions ask while one asks too often', () => {
    const { admitted } = limiterOf(10);
    times(1000, () => admitted('flood'));
    expect(times(20, () => admitted('other'))).toBe(20);
  });

  it('the rate limiter says when to try again, and then lets the session ask', () => {
    const { clock, limiter, admitted } = limiterOf(4);
    times(8, () => admitted('a'));
    expect(() => limiter('a')).toThrowError(
      expect.objectContaining({
        code: 'rate_limited',
        message: expect.stringContaining('requestsPerSecond of THROUGHLINE_TUNING'),
        details: { retryAfterMs: 250, perSecond: 4 },
      }),
    );
    clock.ms += 249;
    expect(admitted('a')).toBe(false);
    clock.ms += 1;
    expect(admitted('a')).toBe(true);
  });

  it('the rate limiter has no limit at 0', () => {
    const { admitted } = limiterOf(0);
    expect(times(10_000, () => admitted('a'))).toBe(10_000);
  });

  it('the rate limiter never lets through more than rate and burst, at whatever moments it is asked', () => {
    const steps = fc.array(
      fc.record({ wait: fc.integer({ min: -50, max: 300 }), asks: fc.integer({ min: 0, max: 30 }) }),
    );
    fc.assert(
      fc.property(steps, (asked) => {
        const { clock, admitted } = limiterOf(20);
        let through = 0;
        let waited = 0;
        for (const { wait, asks } of asked) {
          // A clock that is set back adds no tokens.
          clock.ms += wait;
          waited += Math.max(0, wait);
          through += times(asks, () => admitted('a'));
        }
        expect(through).toBeLessThanOrEqual(40 + Math.ceil((waited * 20) / 1000));
      }),
    );
  });

  it('the rate limiter forgets the session that has not asked for longest, and grows no further', () => {
    const { admitted } = limiterOf(1);
    times(2, () => admitted('first'));
    expect(admitted('first')).toBe(false);
    for (let each = 0; each < 10_000; each += 1) admitted(`s${each}`);
    expect(admitted('first')).toBe(true);
  });
});
