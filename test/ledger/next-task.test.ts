import { describe, expect, it } from 'vitest';
import type { ProgressTask } from '../../src/contracts/plan-requests.js';
import type { RoleResult } from '../../src/contracts/results.js';
import { driftOf, outlookOf } from '../../src/ledger/next-task.js';
import type { TaskLedger } from '../../src/ledger/task-ledger.js';
import { APPROVED, blocked, completed, ledgerAfter, needsChanges, progressTask } from '../support/ledgers.js';

/** A parent in progress with one part done, and an optional task. */
const TASKS = [
  progressTask('1', { status: 'completed' }),
  progressTask('2', { status: 'in-progress' }),
  progressTask('2.1', { status: 'completed', parent: '2' }),
  progressTask('2.2', { parent: '2' }),
  progressTask('3', { optional: true }),
];

type Results = Readonly<Record<string, readonly RoleResult[]>>;

function ledgersOf(results: Results): Map<string, TaskLedger> {
  return new Map(
    Object.entries(results).flatMap(([task, said]) => {
      const ledger = ledgerAfter(said);
      return ledger === undefined ? [] : [[task, ledger] as const];
    }),
  );
}

function nextOf(tasks: readonly ProgressTask[], results: Results = {}): string | null {
  return outlookOf(tasks, ledgersOf(results)).nextTaskId;
}

describe('the active task', () => {
  const [done, pending, running] = [
    progressTask('1', { status: 'completed' }),
    progressTask('2'),
    progressTask('3', { status: 'in-progress' }),
  ];

  it.each([
    ['the one in progress, though a pending one stands before it', [done, pending, running], '3'],
    ['else the first pending one', [done, pending, progressTask('4')], '2'],
    ['none when all are completed', [done], null],
    ['none without tasks', [], null],
    ['of a task with parts the first open part', TASKS, '2.2'],
    ['none that was given up', [progressTask('1', { cancelled: true }), progressTask('2')], '2'],
    [
      'no parent whose parts are all completed',
      [progressTask('1'), progressTask('1.1', { parent: '1', status: 'completed' }), progressTask('2')],
      '2',
    ],
  ])('the active task is %s', (_what, tasks, expected) => {
    expect(outlookOf(tasks).activeTaskId).toBe(expected);
  });
});

describe('a task that is not called active', () => {
  it.each([
    [
      'is blocked, though it is in progress',
      [progressTask('1', { status: 'in-progress', blocked: true }), progressTask('2')],
    ],
    [
      'is a part of a blocked one',
      [progressTask('1', { blocked: true }), progressTask('1.1', { parent: '1' }), progressTask('2')],
    ],
    [
      'is optional while a required one is open',
      [progressTask('1', { status: 'in-progress', optional: true }), progressTask('2')],
    ],
    [
      'is a part of an optional one',
      [progressTask('1', { optional: true }), progressTask('1.1', { parent: '1' }), progressTask('2')],
    ],
  ])('a task that is not called active %s', (_what, tasks) => {
    expect(outlookOf(tasks).activeTaskId).toBe('2');
  });

  it('a task that is not called active is one whose last result is blocked', () => {
    const tasks = [progressTask('1', { status: 'in-progress' }), progressTask('2')];
    expect(outlookOf(tasks, ledgersOf({ '1': [blocked('no token')] })).activeTaskId).toBe('2');
    expect(outlookOf(tasks, ledgersOf({ '1': [blocked('no token'), completed()] })).activeTaskId).toBe('1');
  });
});

describe('the next task', () => {
  it.each([
    [
      'one that waits for a task that was given up',
      [progressTask('1', { cancelled: true }), progressTask('2', { dependsOn: ['1'] })],
      '2',
    ],
    [
      'no part of a task that waits',
      [progressTask('1', { dependsOn: ['2'] }), progressTask('1.1', { parent: '1' }), progressTask('2')],
      '2',
    ],
    [
      'one that waits for a task whose required parts are done',
      [
        progressTask('1', { status: 'in-progress' }),
        progressTask('1.1', { parent: '1', status: 'completed' }),
        progressTask('1.2', { parent: '1', optional: true }),
        progressTask('2', { dependsOn: ['1'] }),
      ],
      '2',
    ],
    [
      'a task that names itself, its part or its whole',
      [
        progressTask('1', { dependsOn: ['1', '1.1'] }),
        progressTask('1.1', { parent: '1', dependsOn: ['1'] }),
      ],
      '1.1',
    ],
    ['one that names a task that is not there', [progressTask('1', { dependsOn: ['x'] })], '1'],
    ['an optional one where no other is open', [progressTask('1', { optional: true })], '1'],
  ])('the next task is %s', (_what, tasks, expected) => {
    expect(nextOf(tasks)).toBe(expected);
  });

  it('the next task is the one behind an approved task whose line is still open, also where it waited for that', () => {
    const tasks = [progressTask('1'), progressTask('2', { dependsOn: ['1'] })];
    expect(nextOf(tasks, { '1': [completed()] })).toBe('1');
    expect(nextOf(tasks, { '1': [completed(), APPROVED] })).toBe('2');
  });

  it('the next task does not come from a task that was approved as a whole', () => {
    const tasks = [progressTask('1'), progressTask('1.1', { parent: '1' }), progressTask('2')];
    expect(nextOf(tasks, { '1': [completed(), APPROVED] })).toBe('2');
  });

  it('where there is no next task though some are open, it is said why', () => {
    const tasks = [
      progressTask('1', { blocked: true }),
      progressTask('2', { dependsOn: ['1'] }),
      progressTask('3', { optional: true }),
    ];
    expect(outlookOf(tasks)).toMatchObject({
      nextTaskId: null,
      activeTaskId: null,
      whyNone: '1 blocked, 1 waiting for others, 1 optional',
    });
    expect(outlookOf([progressTask('1', { status: 'completed' })]).whyNone).toBe('');
  });
});

describe('drift', () => {
  const drift = (task: Partial<ProgressTask>, ...said: readonly RoleResult[]) =>
    driftOf([progressTask('1', task)], ledgersOf({ '1': said })).map(({ kind }) => kind);

  it('drift is an approved result whose line is still open', () => {
    expect(drift({}, completed(), APPROVED)).toEqual(['approved_but_open']);
    expect(drift({ status: 'in-progress' }, completed(), APPROVED)).toEqual(['approved_but_open']);
    expect(drift({ status: 'completed' }, completed(), APPROVED)).toEqual([]);
    expect(drift({}, completed(), APPROVED, completed())).toEqual([]);
  });

  it('drift is a ticked line whose last review says needs_changes, until the next review', () => {
    const ticked = { status: 'completed' } as const;
    expect(drift(ticked, completed(), needsChanges('fix it'))).toEqual(['ticked_but_needs_changes']);
    expect(drift(ticked, completed(), needsChanges('fix it'), completed())).toEqual([
      'ticked_but_needs_changes',
    ]);
    expect(drift(ticked, completed(), needsChanges('fix it'), completed(), APPROVED)).toEqual([]);
    expect(drift({}, completed(), needsChanges('fix it'))).toEqual([]);
  });

  it('drift says that the words of an approved task were others', () => {
    const task = progressTask('1', { text: 'Store the card number', was: 'Validate the card number' });
    expect(driftOf([task], ledgersOf({ '1': [APPROVED] }))[0]?.message).toBe(
      'task 1 is approved, but it said "Validate the card number" when its first result came, and it is not ticked ' +
        'in the plan: tick its line if the approval still holds',
    );
  });

  it('drift says which task it is and what to do', () => {
    expect(driftOf([progressTask('1')], ledgersOf({ '1': [APPROVED] }))).toEqual([
      {
        task: '1',
        kind: 'approved_but_open',
        message: 'task 1 is approved, but it is not ticked in the plan: tick its line',
      },
    ]);
  });
});
