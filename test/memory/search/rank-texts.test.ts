import { describe, expect, it } from 'vitest';
import { rankTexts } from '../../../src/memory/search/similar-results.js';

const NOTES = [
  'Errors carry line and column, counted from 1',
  'We use biome for format and lint',
  'The CI machine has no docker; errors of it are not ours',
];
const found = (query: string, most = 10) => rankTexts(query, NOTES, (text) => text, most);

describe('texts that are ranked by a query', () => {
  it('the text that shares most with the query comes first, in whatever form its words stand', () => {
    expect(found('error lines columns')).toEqual([NOTES[0], NOTES[2]]);
    expect(found('error lines columns', 1)).toEqual([NOTES[0]]);
  });

  it('a text that shares nothing but words of any text is not found', () => {
    expect(found('we use the best for this')).toEqual([]);
    expect(found('')).toEqual([]);
    expect(rankTexts('errors', [], String, 10)).toEqual([]);
  });
});
