import { describe, expect, it } from 'vitest';
import { VectorIndex } from '../../../src/memory/learnings/vector-index.js';
import { bagVector } from '../../support/embedding-server.js';
import { learningId, learningOf, mapOf, someHistory, someText } from '../../support/learning-maps.js';
import * as fc from '../../support/properties.js';

const ALL = { maxResults: 100, minSimilarity: 0 };
const at = (...numbers: number[]) => Float32Array.from(numbers);
const stored = (vector: Float32Array, text: string, model = 'm') => ({ model, text, vector });

/** An index with learnings 1, 2, … that say `text` and have these vectors. */
function indexOf(...vectors: Float32Array[]) {
  const index = new VectorIndex('m');
  index.sync(mapOf(...vectors.map((_, n) => learningOf(n + 1, 'text'))));
  for (const [n, vector] of vectors.entries()) index.put(learningId(n + 1), stored(vector, 'text'));
  return index;
}

const numbersOf = (ranked: ReturnType<VectorIndex['search']>) =>
  ranked.map(({ learning }) => Number.parseInt(learning.id, 16));

describe('the vector index', () => {
  it.each([
    ['of another model', stored(at(1, 0), 'text', 'another')],
    ['of another text', stored(at(1, 0), 'another text')],
    ['of another dimension', stored(at(1, 0, 0), 'text')],
    ['without a direction', stored(at(0, 0), 'text')],
    ['with something that is not a number', stored(at(1, Number.NaN), 'text')],
    ['with something infinite', stored(at(1, Number.POSITIVE_INFINITY), 'text')],
    ['of no length', stored(at(), 'text')],
  ])('the vector index does not find a vector %s, which replaces a good one', (_, vector) => {
    const index = indexOf(at(1, 0), at(1, 0));
    index.put(learningId(1), vector);
    expect(numbersOf(index.search(at(1, 0), ALL))).toEqual([2]);
  });

  it('the vector index keeps the vectors of a model that was exchanged under its name apart', () => {
    const index = indexOf(at(1, 0), at(1, 0));
    index.put(learningId(2), stored(at(1, 0, 0), 'text'));
    expect(numbersOf(index.search(at(1, 0), ALL))).toEqual([1]);
    expect(numbersOf(index.search(at(1, 0, 0), ALL))).toEqual([2]);
  });

  it.each([[at(0, 0)], [at(Number.NaN, 1)], [at(1)], [at()]])(
    'the vector index finds nothing for the vector %j',
    (vector) => {
      expect(indexOf(at(1, 0)).search(vector, ALL)).toEqual([]);
    },
  );

  it('the vector index gives the best of a comparison with every one', () => {
    const DIMENSION = 7;
    const vector = fc
      .array(fc.integer({ min: -20, max: 20 }), { minLength: DIMENSION, maxLength: DIMENSION })
      .filter((numbers) => numbers.some((number) => number !== 0));
    const many = fc.array(vector, { maxLength: 200 });
    const limits = fc.record({
      maxResults: fc.integer({ min: 0, max: 10 }),
      minSimilarity: fc.constantFrom(0, 0.2, 0.9),
    });
    fc.assert(
      fc.property(many, vector, limits, (vectors, query, { maxResults, minSimilarity }) => {
        const ranked = indexOf(...vectors.map((numbers) => at(...numbers))).search(at(...query), {
          maxResults,
          minSimilarity,
        });
        const cosines = vectors.map((numbers) => cosine(numbers, query));
        const best = cosines.filter((c) => c >= minSimilarity + 1e-6).sort((a, b) => b - a);
        expect(ranked.length).toBeGreaterThanOrEqual(Math.min(best.length, maxResults));
        expect(ranked.length).toBeLessThanOrEqual(maxResults);
        for (const [place, { learning, score }] of ranked.entries()) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
          expect(score).toBeCloseTo(cosines[Number.parseInt(learning.id, 16) - 1] ?? 2, 5);
          expect(score).toBeGreaterThan((best[place] ?? minSimilarity) - 1e-5);
        }
      }),
    );
  });

  it('the vector index answers after any changes like a new index', () => {
    fc.assert(
      fc.property(someHistory, someText, fc.infiniteStream(fc.boolean()), (history, query, vectorFirst) => {
        const index = new VectorIndex('m');
        for (const learnings of history) {
          const late = vectorFirst.next().value;
          if (late) index.sync(learnings);
          for (const { id, content } of learnings.values())
            index.put(id, stored(bagVector(content, 32), content));
          if (!late) index.sync(learnings);
          const fresh = new VectorIndex('m');
          fresh.sync(learnings);
          for (const { id, content } of learnings.values())
            fresh.put(id, stored(bagVector(content, 32), content));
          expect(index.search(bagVector(query, 32), ALL)).toEqual(fresh.search(bagVector(query, 32), ALL));
          expect(index.usable).toBe(learnings.size > 0);
        }
      }),
    );
  });
});

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
