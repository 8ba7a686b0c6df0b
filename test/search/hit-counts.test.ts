import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HitCounts } from '../../src/search/hit-counts.js';

const slotsOf = (bits: number) =>
  Array.from({ length: 32 }, (_, slot) => slot).filter((s) => (bits >>> s) & 1);

describe('hit counts', () => {
  it('hit counts count each slot of each block by itself, up to any number', () => {
    const words = fc.array(fc.record({ block: fc.nat(2), slots: fc.integer() }), { maxLength: 70 });
    fc.assert(
      fc.property(words, (added) => {
        const counts = new HitCounts(3, added.length);
        const naive = Array.from({ length: 3 }, () => Array.from({ length: 32 }, () => 0));
        for (const { block, slots } of added) {
          counts.add(block, slots);
          for (const slot of slotsOf(slots)) naive[block]?.splice(slot, 1, (naive[block]?.[slot] ?? 0) + 1);
        }
        for (const [block, expected] of naive.entries()) {
          expect(expected.map((_, slot) => counts.of(block, slot))).toEqual(expected);
          for (let hits = 0; hits <= added.length + 1; hits += 1) {
            expect(slotsOf(counts.atLeast(block, hits))).toEqual(
              [...expected.keys()].filter((slot) => (expected[slot] ?? 0) >= hits),
            );
          }
        }
      }),
    );
  });

  it('hit counts are 0 at first, and then none is asked for in vain', () => {
    const counts = new HitCounts(1, 0);
    expect(slotsOf(counts.atLeast(0, 0))).toHaveLength(32);
    expect(counts.atLeast(0, 1)).toBe(0);
  });
});
