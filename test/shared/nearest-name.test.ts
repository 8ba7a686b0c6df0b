import { describe, expect, it } from 'vitest';
import { nearestName } from '../../src/shared/nearest-name.js';

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
