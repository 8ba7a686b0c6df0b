import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { relevantLearnings } from '../../../src/memory/learnings/relevant-learnings.js';
import { WordVectors } from '../../../src/memory/search/word-vectors.js';
import { learningOf, mapOf } from '../../support/learning-maps.js';

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
});
