import { describe, expect, it } from 'vitest';
import { BestLearnings, fused } from '../../../src/memory/learnings/best-learnings.js';
import { learningOf } from '../../support/learning-maps.js';
import * as fc from '../../support/properties.js';

describe('the best learnings', () => {
  it('the best learnings are those of a full sort, in whatever order they come', () => {
    const scored = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.constantFrom(0, 0.25, 0.5, 1)));
    fc.assert(
      fc.property(scored, fc.integer({ min: 0, max: 6 }), (entries, max) => {
        const byId = [...new Map(entries).entries()];
        const best = new BestLearnings(max);
        for (const [n, score] of byId) best.add(learningOf(n), score);
        // Later numbers were confirmed later.
        const sorted = byId.toSorted(([n, a], [m, b]) => b - a || m - n);
        expect(best.ranked.map(({ learning, score }) => [learning.id, score])).toEqual(
          sorted.slice(0, max).map(([n, score]) => [learningOf(n).id, score]),
        );
      }),
    );
  });
});

const NUMBERS = Array.from({ length: 12 }, (_, n) => n);
const LEARNINGS = NUMBERS.map((n) => learningOf(n));
/** A list in the order of these numbers; its own scores fall, on a scale of its own. */
const list = (numbers: readonly number[]) =>
  numbers.map((n, rank) => ({ learning: LEARNINGS[n] ?? learningOf(n), score: 0.9 / (rank + 1) }));
const idsOf = (ranked: ReturnType<typeof fused>) =>
  ranked.map(({ learning }) => Number.parseInt(learning.id, 16));
const someList = fc.shuffledSubarray(NUMBERS).map(list);

describe('fused ranks', () => {
  it('fused ranks give half for each way, by the place in it', () => {
    const ranked = fused(list([1, 2]), list([1, 3]), 10);
    expect(idsOf(ranked)).toEqual([1, 3, 2]);
    expect(ranked.map(({ score }) => score)).toEqual([1, 0.25, 0.25]);
    expect(ranked.map(({ similarity }) => similarity)).toEqual([0.9, 0.45, undefined]);
  });

  it('fused ranks hold what either way found, once, in an order that does not depend on how many are asked for', () => {
    fc.assert(
      fc.property(someList, someList, fc.nat(12), (byWords, byMeaning, most) => {
        const all = fused(byWords, byMeaning, 100);
        const either = new Set([...byWords, ...byMeaning].map(({ learning }) => learning));
        expect(new Set(all.map(({ learning }) => learning))).toEqual(either);
        expect(all).toHaveLength(either.size);
        expect(all.every(({ score }) => score > 0 && score <= 1)).toBe(true);
        expect(fused(byWords, byMeaning, most)).toEqual(all.slice(0, most));
      }),
    );
  });
});
