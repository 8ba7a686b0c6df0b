import type { TasksDocument, unreadable } from '../contracts/plan-requests.js';
import type { Output } from '../contracts/schema-fields.js';
import { distinctTexts } from '../shared/text.js';
import { driftOf, leavesOf, outlookOf, type TaskResults, totalsOf } from './next-task.js';
import type { RaisedSignal } from './stall.js';
import { nextAction, outcomeName, signalsOf, type TaskLedger } from './task-ledger.js';

/** Entries by the names of the specification, `ledger.task.*` and `ledger.progress.*`; empty ones are left out. */
type LedgerEntries = Readonly<Record<string, unknown>>;

/** The last result of a task, if it could not be read. */
export type UnreadableResult = Omit<Output<typeof unreadable>, 'task'>;

export function tasksLeft(document: TasksDocument | undefined, task: string): boolean {
  if (document === undefined) return true;
  return leavesOf(document.tasks).some(
    (other) => other.id !== task && other.status !== 'completed' && other.optional !== true,
  );
}

export function ledgerEntries(
  ledger: TaskLedger | undefined,
  document: TasksDocument | undefined,
  unreadable?: UnreadableResult,
  results?: TaskResults,
): LedgerEntries {
  return {
    ...taskEntries(ledger, document),
    ...(unreadable && { 'ledger.task.unreadable': unreadable }),
    ...progressEntries(document, results),
  };
}

/** Explains in one line why a task must be planned again, with evidence. */
export function replanHint(signals: readonly RaisedSignal[]): string | undefined {
  const texts = signals.map(({ signal, count, evidence }) => {
    return `${signal} ${count}${evidence.length === 0 ? '' : `: ${evidence.join('; ')}`}`;
  });
  return texts.length === 0 ? undefined : texts.join(' | ');
}

function taskEntries(ledger: TaskLedger | undefined, document: TasksDocument | undefined): LedgerEntries {
  if (ledger === undefined) return {};
  const signals = signalsOf(ledger);
  const hint = replanHint(signals);
  const { work, tries, questions = [], answers = [] } = ledger;
  return {
    ...(ledger.summary !== undefined && { 'ledger.task.summary': ledger.summary }),
    ...(ledger.assessment !== undefined && { 'ledger.task.reviewer_assessment': ledger.assessment }),
    ...(ledger.issues.length > 0 && { 'ledger.task.reviewer_issues': ledger.issues }),
    ...(ledger.requiredFixes.length > 0 && { 'ledger.task.required_fixes': ledger.requiredFixes }),
    ...(ledger.blockers.length > 0 && { 'ledger.task.blockers': distinctTexts(ledger.blockers) }),
    ...(questions.length > 0 && { 'ledger.task.questions': questions }),
    ...(answers.length > 0 && { 'ledger.task.answers': answers }),
    ...(work.files.length > 0 && { 'ledger.task.changed_files': work.files }),
    ...(work.failed.length > 0 && { 'ledger.task.failing_tests': work.failed }),
    ...(work.passed.length > 0 && { 'ledger.task.passing_tests': work.passed }),
    ...(work.followUps.length > 0 && { 'ledger.task.follow_ups': work.followUps }),
    ...(tries.length > 1 && { 'ledger.task.tries': tries }),
    'ledger.task.stalled_count': Math.max(ledger.stall.nonProgress, ...signals.map(({ count }) => count)),
    ...(signals.length > 0 && { 'ledger.task.stall_signals': signals }),
    'ledger.task.plan_version': ledger.planVersion,
    'ledger.task.last_outcome': outcomeName(ledger.last),
    'ledger.task.next_action': nextAction(ledger, tasksLeft(document, ledger.task)),
    ...(hint !== undefined && { 'ledger.task.replan_hint': hint }),
  };
}

function progressEntries(document: TasksDocument | undefined, results: TaskResults = new Map()) {
  if (document === undefined) return {};
  const { activeTaskId, nextTaskId } = outlookOf(document.tasks, results);
  const drift = driftOf(document.tasks, results);
  return {
    ...(activeTaskId !== null && { 'ledger.progress.active_task_id': activeTaskId }),
    ...(nextTaskId !== null && { 'ledger.progress.next_task_id': nextTaskId }),
    'ledger.progress.totals': totalsOf(document.tasks),
    'ledger.progress.source_fingerprint': document.fingerprint,
    ...(drift.length > 0 && { 'ledger.progress.drift': drift }),
  };
}
