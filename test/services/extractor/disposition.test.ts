import { describe, expect, it } from 'vitest';
import { type Disposition, dispose, retryDelay } from '../../../src/services/extractor/session-lane.js';
import * as fc from '../../support/properties.js';

/** Returns the answers to a delivery, in order. */
function told(disposition: Disposition): readonly unknown[] {
  const calls: unknown[] = [];
  const delivery = {
    subject: 'dispatch.demo.reviewer',
    body: new Uint8Array(),
    sequence: 1,
    at: '2026-01-01T00:00:00.000Z',
    delivery: 1,
    isFirst: true,
    ack: () => calls.push('ack'),
    working: () => calls.push(['working']),
    nak: (delayMs: number) => calls.push(['nak', delayMs]),
    term: (reason: string) => calls.push(['term', reason]),
  };
  dispose(delivery, disposition);
  return calls;
}

describe('dispose', () => {
  it.each<[Disposition, unknown]>([
    [{ kind: 'done' }, 'ack'],
    [{ kind: 'retry', delayMs: 250 }, ['nak', 250]],
    [
      { kind: 'rejected', code: 'schema_invalid', reason: 'schema_invalid: status' },
      ['term', 'schema_invalid: status'],
    ],
  ])('dispose turns %j into %j, and nothing else', (disposition, call) => {
    expect(told(disposition)).toEqual([call]);
  });
});

describe('retryDelay', () => {
  it('the retry delay grows with each delivery, up to 30 s, and varies by half', () => {
    const chance = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), chance, (delivery, random) => {
        const delay = retryDelay(delivery, random);
        const longest = retryDelay(delivery, 1);
        expect(delay).toBeGreaterThanOrEqual(longest / 2);
        expect(delay).toBeLessThanOrEqual(longest);
        expect(retryDelay(delivery + 1, random)).toBeGreaterThanOrEqual(delay);
        expect(longest).toBeLessThanOrEqual(30_000);
        expect(Number.isInteger(delay)).toBe(true);
      }),
    );
  });
});
