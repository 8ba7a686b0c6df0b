import { describe, expect, it } from 'vitest';
import { largestFitting } from '../../src/prompt/fill-prompt.js';
import * as fc from '../support/properties.js';

describe('the largest number that fits', () => {
  it('the largest number that fits is found from any guess, and none where not even the least fits', () => {
    const number = fc.integer({ min: 0, max: 200 });
    fc.assert(
      fc.property(number, number, number, number, (one, other, guess, end) => {
        const [least, most] = one < other ? [one, other] : [other, one];
        const found = largestFitting((count) => count <= end, { least, most, guess });
        expect(found).toBe(end < least ? undefined : Math.min(end, most));
      }),
    );
  });

  it('a good guess is tried with few others', () => {
    const tried: number[] = [];
    const fits = (count: number) => {
      tried.push(count);
      return count <= 500;
    };
    expect(largestFitting(fits, { least: 0, most: 10_000, guess: 500 })).toBe(500);
    expect(tried).toEqual([500, 501]);
  });
});
