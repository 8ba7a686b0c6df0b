import { EVENT_VERSION } from '../../src/contracts/event.js';
import type { ProgressTask, TasksDocument } from '../../src/contracts/plan-requests.js';
import type { RoleResult } from '../../src/contracts/results.js';
import type { EventOf } from '../../src/contracts/session-events.js';
import { digestOf, type OutcomeDigest } from '../../src/ledger/outcome-digest.js';
import { foldDispatch, type OutcomeName, type TaskLedger } from '../../src/ledger/task-ledger.js';
import type { ParsedTask } from '../../src/ledger/tasks-md/parsed-tasks.js';
import { implementer, recorded, reviewer, timeOf } from './builders.js';

/** Results of task 1 and what they add up to, for tests of the ledgers. */

/** Every outcome that a dispatch can have, by the name that the ledger gives it. */
export const OUTCOMES = {
  implementer_completed: implementer({ status: 'completed' }),
  implementer_blocked: implementer({ status: 'blocked' }),
  implementer_failed: implementer({ status: 'failed' }),
  reviewer_approved: reviewer({ assessment: 'approved' }),
  reviewer_needs_changes: reviewer({ assessment: 'needs_changes' }),
  reviewer_blocked: reviewer({ assessment: 'blocked' }),
} as const satisfies Partial<Record<OutcomeName, RoleResult>>;

export const OUTCOME_NAMES = Object.keys(OUTCOMES).filter(
  (name): name is keyof typeof OUTCOMES => name in OUTCOMES,
);

export function completed(more: Parameters<typeof implementer>[0] = {}): RoleResult {
  return implementer({ status: 'completed', ...more });
}

export function failed(more: Parameters<typeof implementer>[0] = {}): RoleResult {
  return implementer({ status: 'failed', ...more });
}

export function blocked(...blockers: readonly string[]): RoleResult {
  return implementer({ status: 'blocked', blockers: [...blockers] });
}

export function needsChanges(...required_fixes: readonly string[]): RoleResult {
  return reviewer({ assessment: 'needs_changes', required_fixes: [...required_fixes] });
}

export const APPROVED: RoleResult = reviewer({ assessment: 'approved' });

export function digest(returned: RoleResult): OutcomeDigest {
  return digestOf(recorded(1, returned).data.dispatch);
}

/** The ledger of task 1 after these results, whose dispatches are numbered from 1. */
export function ledgerAfter(results: readonly [RoleResult, ...RoleResult[]]): TaskLedger;
export function ledgerAfter(results: readonly RoleResult[]): TaskLedger | undefined;
export function ledgerAfter(results: readonly RoleResult[]): TaskLedger | undefined {
  let ledger: TaskLedger | undefined;
  results.forEach((returned, index) => {
    const dispatch = { sequence: index + 1, at: timeOf(index + 1) };
    ledger = foldDispatch(ledger, '1', dispatch, digest(returned));
  });
  return ledger;
}

/** Tasks as a document holds them: `2.1` is pending, `2.1 completed` is not. */
export function progressTask(id: string, more: Partial<ProgressTask> = {}): ProgressTask {
  return { id, text: `do ${id}`, status: 'pending', ...more };
}

export function documentOfTasks(tasks: readonly ProgressTask[], hash = 'a'.repeat(16)): TasksDocument {
  return { fingerprint: { mtimeMs: 1_767_225_600_000.25, hash }, tasks: [...tasks], problems: 0 };
}

/** The event of `run.init` with a file. */
export function runInitialized(tasks: readonly ProgressTask[]): EventOf<'run.initialized'> {
  return {
    v: EVENT_VERSION,
    type: 'run.initialized',
    at: timeOf(0),
    data: {
      spec: 'parser',
      goal: 'a parser that never throws',
      source: { kind: 'file', path: '/specs/tasks.md' },
      document: documentOfTasks(tasks),
    },
  };
}

export function progressRebuilt(tasks: readonly ProgressTask[], hash: string): EventOf<'progress.rebuilt'> {
  return {
    v: EVENT_VERSION,
    type: 'progress.rebuilt',
    at: timeOf(0),
    data: { document: documentOfTasks(tasks, hash) },
  };
}

export function parsedTask(id: string, more: Partial<ParsedTask> = {}) {
  return {
    id,
    text: `do ${id}`,
    status: 'pending' as const,
    statusFrom: 'box' as const,
    group: false,
    optional: false,
    blocked: false,
    cancelled: false,
    line: 1,
    requirements: [],
    dependsOn: [],
    ...more,
  };
}
