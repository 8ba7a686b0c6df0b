import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { relevantLearnings } from '../../../src/memory/learnings/relevant-learnings.js';
import { WordVectors } from '../../../src/memory/search/word-vectors.js';
import { learningOf, mapOf, someHistory, someText } from '../../support/learning-maps.js';
import * as fc from '../../support/properties.js';

const WORDS = new WordVectors(
  readFileSync(new URL('../../../scripts/words/word-vectors.bin', import.meta.url)),
);
const LEARNINGS = mapOf(
  learningOf(1, 'Cap the number of redirects that are followed'),
  learningOf(2, 'Passwords are hashed with argon2id'),
  learningOf(3, 'Die Rechnung wird kaufmännisch gerundet'),
);

function found(query: string, words: WordVectors | 'none' = WORDS, minSimilarity = 0.2) {
  const limits = { maxResults: 2, minSimilarity };
  const { ranked, ...rest } = relevantLearnings(
    words === 'none' ? undefined : words,
    LEARNINGS,
    query,
    limits,
  );
  return { ...rest, ids: ranked.map(({ learning }) => Number.parseInt(learning.id, 16)) };
}

describe('the relevant learnings', () => {
  it('a learning is found by meaning without a shared word, and the answer names the table', () => {
    const query = 'The crawler loops endlessly on forwarding sites';
    expect(found(query, WORDS, 0.1)).toMatchObject({ method: 'semantic', vectors: WORDS.version });
    expect(found(query, WORDS, 0.1).ids[0]).toBe(1);
    expect(found(query, 'none')).toMatchObject({ method: 'recency' });
    expect(found(query, WORDS, 0.9)).toMatchObject({ method: 'recency' });
  });

  it('words and meaning are fused', () => {
    expect(found('Follow redirects of the login')).toMatchObject({ method: 'hybrid', ids: [1] });
  });

  it('a query in a language without vectors is answered by words alone', () => {
    expect(found('Rechnung falsch gerundet')).toEqual({ method: 'lexical', ids: [3] });
  });

  it('the score is the mean of the reciprocal ranks by words and by meaning', () => {
    const limits = { maxResults: 2, minSimilarity: 0.2 };
    const query = 'Follow redirects of the login';
    expect(relevantLearnings(WORDS, LEARNINGS, query, limits).ranked[0]?.score).toBe(1);
    expect(relevantLearnings(undefined, LEARNINGS, query, limits).ranked[0]?.score).toBe(0.5);
  });

  it('without a match, the learnings that were confirmed last come first', () => {
    expect(found('xyzzy', 'none')).toEqual({ method: 'recency', ids: [3, 2] });
  });

  it('the order does not depend on how many are asked for, nor on that of the learnings', () => {
    fc.assert(
      fc.property(someHistory, someText, fc.nat(9), (history, query, most) => {
        const learnings = history.at(-1) ?? mapOf();
        const ranked = (maxResults: number, of = learnings) =>
          relevantLearnings(WORDS, of, query, { maxResults, minSimilarity: 0.2 }).ranked;
        expect(ranked(most)).toEqual(ranked(100).slice(0, most));
        expect(ranked(most, new Map([...learnings].reverse()))).toEqual(ranked(most));
      }),
    );
  });
});
