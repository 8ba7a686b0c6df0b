import { describe, expect, it } from 'vitest';
import { totalsOf } from '../../src/ledger/next-task.js';
import { progressTask } from '../support/ledgers.js';

const TASKS = [
  progressTask('1', { status: 'completed' }),
  progressTask('2', { status: 'in-progress' }),
  progressTask('2.1', { status: 'completed', parent: '2' }),
  progressTask('2.2', { parent: '2' }),
  progressTask('3', { optional: true }),
];

describe('the totals', () => {
  it('the totals count each task once, by its status', () => {
    expect(totalsOf(TASKS)).toEqual({ total: 5, completed: 2, inProgress: 1, pending: 2 });
    expect(totalsOf([])).toEqual({ total: 0, completed: 0, inProgress: 0, pending: 0 });
  });

  it('the totals leave out what was given up, and groups that say no more than their parts', () => {
    const tasks = [
      progressTask('1', { group: true }),
      progressTask('1.1', { parent: '1' }),
      progressTask('2', { cancelled: true }),
    ];
    expect(totalsOf(tasks)).toEqual({ total: 1, completed: 0, inProgress: 0, pending: 1 });
  });
});
