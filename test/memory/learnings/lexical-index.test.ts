import { describe, expect, it } from 'vitest';
import { lexicalSearch } from '../../../src/memory/learnings/relevant-learnings.js';
import { learningOf, mapOf, someHistory, someText } from '../../support/learning-maps.js';
import * as fc from '../../support/properties.js';

function found(learnings: ReturnType<typeof mapOf>, query: string, maxResults = 10) {
  return lexicalSearch(learnings, query, maxResults);
}

const idsOf = (ranked: ReturnType<typeof found>) =>
  ranked.map(({ learning }) => Number.parseInt(learning.id, 16));

describe('the lexical index', () => {
  it('the lexical index puts the learning first that shares the rarer words', () => {
    const learnings = mapOf(
      learningOf(1, 'Tests run against a real server'),
      learningOf(2, 'Tests name what they prove'),
      learningOf(3, 'Tests use fast-check for properties'),
    );
    expect(idsOf(found(learnings, 'write tests with fast-check'))).toEqual([3, 2, 1]);
  });

  it.each(['', '   ', 'the of and', 'nothing of it'])('the lexical index finds nothing for %j', (query) => {
    expect(found(mapOf(learningOf(1, 'retry the stream')), query)).toEqual([]);
    expect(found(mapOf(), query)).toEqual([]);
  });

  it('the lexical index takes a word in another form, and the parts of an identifier', () => {
    const learnings = mapOf(
      learningOf(1, 'Test each parser'),
      learningOf(2, 'withDeadline stops what waits'),
      learningOf(3, '検索の設定を確かめる'),
    );
    expect(idsOf(found(learnings, 'testing of parsers?'))).toEqual([1]);
    expect(idsOf(found(learnings, 'a deadline for the search'))).toEqual([2]);
    expect(idsOf(found(learnings, '設定の画面'))).toEqual([3]);
  });

  it('the lexical index finds no learning by words of any text alone, and lets them decide among those that it finds', () => {
    const learnings = mapOf(
      learningOf(1, 'Use streams'),
      learningOf(2, 'Add a note to each release'),
      learningOf(3, 'Fix the 2 clocks of streams'),
    );
    expect(found(learnings, 'Add 2 buttons that each page can use, and fix the menu')).toEqual([]);
    expect(idsOf(found(learnings, 'streams that all use'))).toEqual([1, 3]);
  });

  it('the lexical index gives scores over 0 and up to 1, best first, and no more than asked for', () => {
    fc.assert(
      fc.property(someHistory, someText, fc.integer({ min: 0, max: 9 }), (history, query, maxResults) => {
        const learnings = history.at(-1) ?? mapOf();
        const all = found(learnings, query, 100);
        const scores = all.map(({ score }) => score);
        expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(found(learnings, query, maxResults)).toHaveLength(Math.min(all.length, maxResults));
      }),
    );
  });
});
