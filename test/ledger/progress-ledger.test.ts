import { describe, expect, it } from 'vitest';
import type { TasksSource } from '../../src/contracts/run-request.js';
import { progressLedger, totalsOf } from '../../src/ledger/progress-ledger.js';
import { documentOfTasks, progressTask } from '../support/ledgers.js';

const FILE: TasksSource = { kind: 'file', path: 'specs/tasks.md' };

const TASKS = [
  progressTask('1', { status: 'completed' }),
  progressTask('2', { status: 'in-progress' }),
  progressTask('2.1', { status: 'completed', parent: '2' }),
  progressTask('2.2', { parent: '2', prompt: 'Role: writer', requirements: ['1.2', '3'] }),
  progressTask('3', { optional: true }),
];

describe('a progress ledger', () => {
  const run = { spec: 'parser', source: FILE, document: documentOfTasks(TASKS) };

  it('a progress ledger is the run seen from one task', () => {
    expect(progressLedger(run, '2.2')).toEqual({
      specName: 'parser',
      taskId: '2.2',
      sourcePath: 'specs/tasks.md',
      sourceFingerprint: run.document.fingerprint,
      totals: { total: 5, completed: 2, inProgress: 1, pending: 2 },
      activeTaskId: '2.2',
      currentTask: {
        id: '2.2',
        description: 'do 2.2',
        status: 'pending',
        prompt: 'Role: writer',
        requirements: ['1.2', '3'],
      },
    });
  });

  it('a progress ledger leaves out what the task does not have', () => {
    expect(progressLedger(run, '1').currentTask).toEqual({
      id: '1',
      description: 'do 1',
      status: 'completed',
    });
  });

  it('a progress ledger has no current task when the document does not hold it', () => {
    const ledger = progressLedger(run, '7');
    expect(ledger).not.toHaveProperty('currentTask');
    expect(ledger).toMatchObject({ taskId: '7', activeTaskId: '2.2', totals: { total: 5 } });
  });

  it('a progress ledger says that a pushed document has no path', () => {
    expect(progressLedger({ ...run, source: { kind: 'document' } }, '1').sourcePath).toBe('(document)');
  });
});

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
