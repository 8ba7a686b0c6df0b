import { describe, expect, it } from 'vitest';
import { distinctTexts, oneSpelling } from '../../src/shared/text.js';

describe('texts that differ in spelling alone', () => {
  it('white space, the first letter and one final full stop tell no two texts apart', () => {
    expect(distinctTexts(['Needs the  API key.', ' needs the API\nkey', 'a key'])).toEqual([
      'Needs the  API key.',
      'a key',
    ]);
    expect(oneSpelling('Throw.')).toBe('throw');
  });

  it.each([
    ['needs C++', 'needs C'],
    ['src/a.ts', 'src/a/ts'],
    ['returns -1', 'returns 1'],
    ['...', '!!!'],
    ['Rename `Item` to `item`', 'Rename `item` to `Item`'],
    ['Return `null`, not `Null`', 'Return `Null`, not `null`'],
    ["Quote the value with '", 'Quote the value with "'],
    ['End the line with ;', 'End the line with .'],
    ['End the line with .', 'End the line with'],
    ['Print "a"', 'Print a'],
    ['Item.close leaks', 'item.close leaks'],
    ['Use the API', 'use the api'],
    ['End it with a..', 'End it with a'],
  ])('%s and %s are two matters', (one, other) => {
    expect(distinctTexts([one, other])).toEqual([one, other]);
  });
});
