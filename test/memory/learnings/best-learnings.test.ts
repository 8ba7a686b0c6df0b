import { describe, expect, it } from 'vitest';
import { BestLearnings } from '../../../src/memory/learnings/best-learnings.js';
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
