import { describe, expect, it } from 'vitest';
import { distinctTexts, oneSpelling } from '../../src/shared/distinct-texts.js';

describe('texts that differ in spelling alone', () => {
  it('letter case, quotes and marks at the end of a word tell no two texts apart', () => {
    expect(distinctTexts(['Needs the "API" key.', 'needs the api key', 'a key'])).toEqual([
      'Needs the "API" key.',
      'a key',
    ]);
    expect(oneSpelling('Stop: the parser!')).toBe(oneSpelling('stop the parser'));
  });

  it.each([
    ['needs C++', 'needs C'],
    ['src/a.ts', 'src/a/ts'],
    ['returns -1', 'returns 1'],
    ['...', '!!!'],
  ])('%s and %s are two matters', (one, other) => {
    expect(distinctTexts([one, other])).toEqual([one, other]);
  });
});
