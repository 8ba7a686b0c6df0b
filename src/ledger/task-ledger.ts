import type { ImplementerDigest, OutcomeDigest, ReviewerDigest, ReviewIssue } from './outcome-digest.js';
import {
  countStall,
  NO_STALL,
  type RaisedSignal,
  raisedSignals,
  type StallCounters,
  type StallThresholds,
} from './stall.js';

/**
 * The ledger of one task: the outcomes of its dispatches. Immutable and bounded; folded in the order of the dispatches.
 */
export interface TaskLedger {
  readonly task: string;
  /** 1 at first; one more each time the task is found to be stalled and must be planned again. */
  readonly planVersion: number;
  readonly dispatches: number;
  /** Reviews that asked for changes. */
  readonly approvalLoops: number;
  readonly summary?: string;
  readonly assessment?: 'approved' | 'needs_changes' | 'blocked';
  readonly issues: readonly ReviewIssue[];
  readonly requiredFixes: readonly string[];
  readonly blockers: readonly string[];
  readonly last: LastOutcome;
  readonly stall: StallCounters;
  /** Whether the flag was up after the newest dispatch: so a raised flag is counted once. */
  readonly stalled: boolean;
}

/** The newest dispatch of the task, and its outcome. */
export interface LastOutcome {
  readonly sequence: number;
  readonly at: string;
  readonly outcome:
    | `implementer_${'completed' | 'blocked' | 'failed'}`
    | `reviewer_${'approved' | 'needs_changes' | 'blocked'}`;
}

/** What should happen next, by the newest outcome. */
export type NextAction =
  | 'dispatch_reviewer'
  | 'retry_with_constraints'
  | 'retry'
  | 'next_task'
  | 'spec_completed'
  | 'dispatch_fixes'
  | 'halt_and_escalate';

const NEXT: Readonly<Record<LastOutcome['outcome'], NextAction>> = {
  implementer_completed: 'dispatch_reviewer',
  implementer_blocked: 'retry_with_constraints',
  implementer_failed: 'retry',
  reviewer_approved: 'next_task',
  reviewer_needs_changes: 'dispatch_fixes',
  reviewer_blocked: 'halt_and_escalate',
};

/** The next action; after an approval it depends on whether anything is left to do. */
export function nextAction({ outcome }: LastOutcome, tasksLeft: boolean): NextAction {
  return outcome === 'reviewer_approved' && !tasksLeft ? 'spec_completed' : NEXT[outcome];
}

/**
 * The ledger after one more dispatch. One that is older than the newest was overtaken by more dispatches than the fold
 * can put in order: it is counted, and what is newer stands.
 */
export function foldDispatch(
  ledger: TaskLedger | undefined,
  task: string,
  dispatch: { readonly sequence: number; readonly at: string },
  digest: OutcomeDigest,
  thresholds: StallThresholds,
): TaskLedger {
  const before = ledger ?? emptyLedger(task);
  const dispatches = before.dispatches + 1;
  const sentBack = digest.role === 'reviewer' && digest.assessment === 'needs_changes';
  const approvalLoops = before.approvalLoops + (sentBack ? 1 : 0);
  if (ledger !== undefined && dispatch.sequence < ledger.last.sequence)
    return { ...ledger, dispatches, approvalLoops };
  const last = { sequence: dispatch.sequence, at: dispatch.at, outcome: outcomeOf(digest) };
  const said = digest.role === 'implementer' ? implemented(before, digest) : reviewed(before, digest);
  const stall = countStall(before.stall, digest);
  const stalled = signalsOf({ ...said, stall, last }, thresholds).length > 0;
  const { summary, assessment } = said;
  // Spelled out, so that equal ledgers have their keys in the same order.
  return {
    task,
    planVersion: stalled && !before.stalled ? before.planVersion + 1 : before.planVersion,
    dispatches,
    approvalLoops,
    issues: said.issues,
    requiredFixes: said.requiredFixes,
    blockers: said.blockers,
    last,
    stall,
    stalled,
    ...(summary !== undefined && { summary }),
    ...(assessment !== undefined && { assessment }),
  };
}

/** Stall signals over their thresholds. A review without required fixes speaks through its issues. */
export function signalsOf(
  {
    stall,
    requiredFixes,
    issues,
    blockers,
    summary,
    last,
  }: Pick<TaskLedger, 'stall' | 'requiredFixes' | 'issues' | 'blockers' | 'summary' | 'last'>,
  thresholds: StallThresholds,
): RaisedSignal[] {
  const asked = requiredFixes.length > 0 ? requiredFixes : issues.map(({ message }) => message);
  const halted = last.outcome === 'reviewer_blocked' ? asked[0] : undefined;
  return raisedSignals(stall, thresholds, asked, halted ?? blockers[0] ?? summary ?? '');
}

/** What a task's dispatches said last. */
type Said = Pick<TaskLedger, 'issues' | 'requiredFixes' | 'blockers' | 'summary' | 'assessment'>;

function emptyLedger(task: string): Omit<TaskLedger, 'last'> {
  return {
    task,
    planVersion: 1,
    dispatches: 0,
    approvalLoops: 0,
    issues: [],
    requiredFixes: [],
    blockers: [],
    stall: NO_STALL,
    stalled: false,
  };
}

function outcomeOf(digest: OutcomeDigest): LastOutcome['outcome'] {
  return digest.role === 'implementer' ? `implementer_${digest.status}` : `reviewer_${digest.assessment}`;
}

/** Each result replaces the blockers; what a review asked for stays until the next review. */
function implemented(before: Said, { summary, blockers }: ImplementerDigest): Said {
  return { ...before, summary, blockers };
}

function reviewed(before: Said, { assessment, issues, fixes }: ReviewerDigest): Said {
  if (assessment === 'approved')
    return { ...before, assessment, issues: [], requiredFixes: [], blockers: [] };
  return { ...before, assessment, issues, requiredFixes: fixes };
}
