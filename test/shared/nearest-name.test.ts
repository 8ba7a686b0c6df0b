import { describe, expect, it } from 'vitest';
import { nearestName, nearIds, nearIdsHint } from '../../src/shared/nearest-name.js';

const FIELDS = ['task_id', 'status', 'summary', 'files_modified', 'id'];

describe('the nearest name', () => {
  it.each([
    ['taskId', 'task_id'],
    ['TASK-ID', 'task_id'],
    ['sumary', 'summary'],
    ['statsu', 'status'],
    ['statuss', 'status'],
    ['file_modifed', 'files_modified'],
  ])('of %s is %s', (given, nearest) => {
    expect(nearestName(given, FIELDS)).toBe(nearest);
  });

  it.each([['colour'], ['state'], ['x'], [''], ['s'.repeat(100_000)]])('of %s is none of these', (given) => {
    expect(nearestName(given, FIELDS)).toBeUndefined();
  });

  it('is the one with the fewest edits, not the first that is near', () => {
    expect(nearestName('THROUGHLINE_REPLICA', ['THROUGHLINE_REDACT', 'THROUGHLINE_REPLICAS'])).toBe(
      'THROUGHLINE_REPLICAS',
    );
  });
});

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
