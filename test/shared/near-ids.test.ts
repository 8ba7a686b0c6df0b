import { describe, expect, it } from 'vitest';
import { nearIds, nearIdsHint } from '../../src/shared/nearest-name.js';

const IDS = ['1', '1.1', '2', '2.1', 'T009', '9.1', '9.2', 'setup#1'];

describe('the ids near one', () => {
  it.each([
    ['9', ['T009', '9.1', '9.2']],
    ['task 2.1', ['2.1', '2']],
    ['2.1.4', ['2.1', '2']],
    ['t9', ['T009']],
    ['Setup#1', ['setup#1', '1']],
    ['seutp#1', ['1', 'setup#1']],
    ['77', []],
    ['', []],
  ])('the ids near %j are %j', (given, expected) => {
    expect(nearIds(given, IDS)).toEqual(expected);
  });

  it('where no id is near, the first ones known are named', () => {
    expect(nearIdsHint('77', IDS)).toBe('; known: 1, 1.1, 2, 2.1, T009 and 3 more');
    expect(nearIdsHint('9', IDS)).toBe('; did you mean T009, 9.1, 9.2?');
    expect(nearIdsHint('9', [])).toBe('');
  });
});
