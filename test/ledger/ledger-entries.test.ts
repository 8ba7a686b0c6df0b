import { describe, expect, it } from 'vitest';
import { ledgerEntries, replanHint, tasksLeft } from '../../src/ledger/ledger-entries.js';
import { implementer, reviewer } from '../support/builders.js';
import {
  APPROVED,
  completed,
  documentOfTasks,
  failed,
  ledgerAfter,
  needsChanges,
  progressTask,
} from '../support/ledgers.js';

describe('the entries of a task', () => {
  it('the entries of a task are those with content', () => {
    expect(ledgerEntries(ledgerAfter([completed({ summary: 'done' })]), undefined)).toEqual({
      'ledger.task.summary': 'done',
      'ledger.task.stalled_count': 0,
      'ledger.task.plan_version': 1,
      'ledger.task.last_outcome': 'implementer_completed',
      'ledger.task.next_action': 'dispatch_reviewer',
    });
  });

  it('the entries of a task are all of them for a task that has everything', () => {
    const ledger = ledgerAfter([
      implementer({ status: 'blocked', summary: 'stuck', blockers: ['no token'] }),
      failed({ summary: 'still stuck' }),
      implementer({
        status: 'blocked',
        blockers: ['no host'],
        files_modified: ['a.ts'],
        tests: [
          { command: 'npm test', passed: false, failures: ['odd'] },
          { command: 'npm run lint', passed: true },
        ],
        follow_up_actions: ['ask'],
      }),
      reviewer({
        assessment: 'needs_changes',
        required_fixes: ['ask for it'],
        issues: [{ severity: 'minor', file: 'a.ts', message: 'odd', fix: 'rename' }],
      }),
    ]);
    expect(ledgerEntries(ledger, undefined)).toEqual({
      'ledger.task.summary': 'added the store',
      'ledger.task.reviewer_assessment': 'needs_changes',
      'ledger.task.reviewer_issues': [{ severity: 'minor', message: 'odd', file: 'a.ts', fix: 'rename' }],
      'ledger.task.required_fixes': ['ask for it'],
      'ledger.task.blockers': ['no host'],
      'ledger.task.changed_files': ['a.ts'],
      'ledger.task.failing_tests': [{ command: 'npm test', failures: ['odd'], count: 1 }],
      'ledger.task.passing_tests': ['npm run lint'],
      'ledger.task.follow_ups': ['ask'],
      'ledger.task.tries': [
        { verdict: 'blocked', summary: 'stuck' },
        { verdict: 'failed', summary: 'still stuck' },
        { verdict: 'blocked', summary: 'added the store', refused: ['ask for it'] },
      ],
      'ledger.task.stalled_count': 3,
      'ledger.task.stall_signals': [
        { signal: 'non_progress', count: 3, threshold: 2, evidence: ['no host'] },
      ],
      'ledger.task.plan_version': 2,
      'ledger.task.last_outcome': 'reviewer_needs_changes',
      'ledger.task.next_action': 'dispatch_fixes',
      'ledger.task.replan_hint': 'non_progress 3: no host',
    });
  });

  it('the entries of a task lose flag and hint with an approval, but not the plan version', () => {
    const stalled = [completed(), needsChanges('a'), completed(), needsChanges('a')];
    const before = ledgerEntries(ledgerAfter(stalled), undefined);
    expect(before).toMatchObject({ 'ledger.task.replan_hint': 'ping_pong 2: a | same_fixes 2: a (2 times)' });
    const after = ledgerEntries(ledgerAfter([...stalled, APPROVED]), undefined);
    expect(Object.keys(after)).toEqual([
      'ledger.task.summary',
      'ledger.task.reviewer_assessment',
      'ledger.task.stalled_count',
      'ledger.task.plan_version',
      'ledger.task.last_outcome',
      'ledger.task.next_action',
    ]);
    expect(after['ledger.task.plan_version']).toBe(2);
  });

  it('a task of which nothing is known has no entries', () => {
    expect(ledgerEntries(undefined, undefined)).toEqual({});
  });
});

describe('the entries of the progress', () => {
  it('the entries of the progress stand beside those of the task', () => {
    const document = documentOfTasks([progressTask('1', { status: 'completed' }), progressTask('2')]);
    expect(ledgerEntries(undefined, document)).toEqual({
      'ledger.progress.active_task_id': '2',
      'ledger.progress.next_task_id': '2',
      'ledger.progress.totals': { total: 2, completed: 1, inProgress: 0, pending: 1 },
      'ledger.progress.source_fingerprint': document.fingerprint,
    });
    const both = ledgerEntries(ledgerAfter([completed()]), document);
    expect(both).toMatchObject({ 'ledger.task.plan_version': 1, 'ledger.progress.active_task_id': '2' });
  });

  it('the entries of the progress name no active task when all is done', () => {
    const document = documentOfTasks([progressTask('1', { status: 'completed' })]);
    expect(ledgerEntries(undefined, document)).not.toHaveProperty('ledger.progress.active_task_id');
  });
});

describe('whether tasks are left after one', () => {
  const done = (id: string, parent?: string) =>
    progressTask(id, { status: 'completed', ...(parent && { parent }) });
  const open = (id: string, parent?: string) => progressTask(id, { ...(parent && { parent }) });

  it.each([
    ['another one is pending', [done('1'), open('2'), open('3')], true],
    ['another one is in progress', [progressTask('1', { status: 'in-progress' }), open('2')], true],
    ['all others are completed', [done('1'), open('2')], false],
    ['only optional ones are open', [open('2'), progressTask('3', { optional: true })], false],
    ['the others were given up', [open('2'), progressTask('3', { cancelled: true })], false],
    ['the document does not hold it, and one is open', [open('7')], true],
    ['only its parent is open, whose last part it is', [open('1'), done('1.1', '1'), open('2', '1')], false],
    ['a part of another task is open', [open('2'), open('3'), open('3.1', '3')], true],
  ])('the ledger knows whether tasks are left when %s', (_what, tasks, expected) => {
    expect(tasksLeft(documentOfTasks(tasks), '2')).toBe(expected);
  });

  it('tasks are assumed to be left without a document', () => {
    expect(tasksLeft(undefined, '2')).toBe(true);
  });

  it('an approval leads to the next task, or to the end when no task is left', () => {
    const ledger = ledgerAfter([APPROVED]);
    const entries = (...ids: string[]) =>
      ledgerEntries(ledger, documentOfTasks(ids.map((id) => progressTask(id))));
    expect(entries('1', '2')).toMatchObject({ 'ledger.task.next_action': 'next_task' });
    expect(entries('1')).toMatchObject({ 'ledger.task.next_action': 'spec_completed' });
  });
});

describe('a replan hint', () => {
  const signal = { signal: 'ping_pong', count: 2, threshold: 2 } as const;

  it.each([
    ['nothing for no signal', [], undefined],
    ['its name and count', [{ ...signal, evidence: [] }], 'ping_pong 2'],
    ['its evidence', [{ ...signal, evidence: ['a', 'b'] }], 'ping_pong 2: a; b'],
  ])('a replan hint says %s', (_what, signals, expected) => {
    expect(replanHint(signals)).toBe(expected);
  });
});
