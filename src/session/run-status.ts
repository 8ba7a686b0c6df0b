import type { NextAction } from '../contracts/kinds.js';
import type { ProgressTask, TasksDocument, TasksSource } from '../contracts/run-request.js';
import { replanHint, tasksLeft, type UnreadableResult } from '../ledger/ledger-entries.js';
import {
  driftOf,
  outlookOf,
  type PlanDrift,
  type PlanOutlook,
  type TaskResults,
} from '../ledger/next-task.js';
import { type ProgressTotals, totalsOf } from '../ledger/progress-ledger.js';
import {
  nextAction,
  type OutcomeName,
  outcomeName,
  signalsOf,
  type TaskLedger,
} from '../ledger/task-ledger.js';
import { overview, type SessionOverview } from './commands/lifecycle-commands.js';
import { unreadableTasks } from './known-rejections.js';
import { resolvedSettings } from './resolved-settings.js';
import { seenState } from './seen-state.js';
import type { Run } from './session-run.js';
import type { SessionState } from './session-state.js';
import type { Task } from './task-board.js';

/** The run in numbers, and what each task of it needs next. */
export interface RunStatus {
  readonly session: SessionOverview;
  /** Null before `run.init`. */
  readonly run: {
    readonly spec: string;
    readonly goal?: string;
    readonly source: TasksSource;
    readonly fingerprint: TasksDocument['fingerprint'];
    readonly totals: ProgressTotals;
    /** The task in progress, else the next one. Never one that is blocked, or optional while required ones are open. */
    readonly active_task_id: string | null;
    /** The first task that is open, can be worked on, and waits for nothing. */
    readonly next_task_id: string | null;
    /** Why there is no next task though some are open: `2 blocked, 1 optional`. */
    readonly held?: string;
    /** Lines of the plan that were not placed, and those that were placed by a guess. */
    readonly problems: number;
    readonly guesses: number;
    /** Tasks without an id, which are named by their place or text. */
    readonly unnamed: number;
    /** Where the plan and the results contradict each other; left out where they agree. */
    readonly drift?: readonly PlanDrift[];
  } | null;
  /** Tasks that have had a dispatch. */
  readonly tasks: readonly TaskProgress[];
  /** Tasks whose last result could not be read; the newest rejections of the session are remembered. */
  readonly unreadable: readonly (UnreadableResult & { readonly task: string })[];
}

export interface TaskProgress {
  readonly task: string;
  /** Its status on the board, and in the plan, where it is there. */
  readonly board?: Task['status'];
  readonly plan?: ProgressTask['status'];
  readonly dispatches: number;
  readonly last_outcome: OutcomeName;
  readonly next_action: NextAction;
  readonly required_fixes: number;
  readonly stalled: boolean;
  /** Why the task is stalled, where it is. */
  readonly replan_hint?: string;
}

export function runStatus(state: SessionState): RunStatus {
  const seen = seenState(state);
  const { run } = state;
  const { ledgers, rejections } = state.dispatches.current();
  return {
    ...overview(seen),
    run: run === undefined ? null : planInNumbers(run, ledgers),
    tasks: [...ledgers.values()].map((ledger) => progressOf(seen, ledger)),
    unreadable: unreadableTasks(rejections),
  };
}

/** The plan of a run as a whole. */
export function planInNumbers(
  { spec, goal, source, document }: Run,
  results: TaskResults,
  { nextTaskId, activeTaskId, whyNone }: PlanOutlook = outlookOf(document.tasks, results),
): NonNullable<RunStatus['run']> {
  const drift = driftOf(document.tasks, results);
  return {
    spec,
    ...(goal !== undefined && { goal }),
    source,
    fingerprint: document.fingerprint,
    totals: totalsOf(document.tasks),
    active_task_id: activeTaskId,
    next_task_id: nextTaskId,
    ...(whyNone !== '' && { held: whyNone }),
    problems: document.problems,
    guesses: document.guesses ?? 0,
    unnamed: document.unnamed ?? 0,
    ...(drift.length > 0 && { drift }),
  };
}

/** What came of a task, and what it needs next. */
export function progressOf(
  { charter, run, board: { tasks } }: SessionState,
  ledger: TaskLedger,
): TaskProgress {
  const { stallThresholds } = resolvedSettings(charter.settings);
  const raised = signalsOf(ledger, stallThresholds);
  const hint = replanHint(raised);
  const board = tasks.get(ledger.task)?.status;
  const plan = run?.document.tasks.find(({ id }) => id === ledger.task)?.status;
  return {
    task: ledger.task,
    ...(board !== undefined && { board }),
    ...(plan !== undefined && { plan }),
    dispatches: ledger.dispatches,
    last_outcome: outcomeName(ledger.last),
    next_action: nextAction(ledger.last, tasksLeft(run?.document, ledger.task)),
    required_fixes: ledger.requiredFixes.length,
    stalled: raised.length > 0,
    ...(hint !== undefined && { replan_hint: hint }),
  };
}
