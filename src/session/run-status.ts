import type { NextAction } from '../contracts/kinds.js';
import type { ProgressTask, TasksDocument, TasksSource } from '../contracts/run-request.js';
import { replanHint, tasksLeft, type UnreadableResult } from '../ledger/ledger-entries.js';
import { activeTaskOf, type ProgressTotals, totalsOf } from '../ledger/progress-ledger.js';
import { nextAction, type OutcomeName, outcomeName, signalsOf } from '../ledger/task-ledger.js';
import { overview, type SessionOverview } from './commands/lifecycle-commands.js';
import { unreadableTasks } from './known-rejections.js';
import { resolvedSettings } from './resolved-settings.js';
import { seenState } from './seen-state.js';
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
    /** The task in progress, else the first pending one. */
    readonly active_task_id: string | null;
    /** Lines of the tasks.md that could not be placed. */
    readonly problems: number;
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
  const planned = new Map(run?.document.tasks.map(({ id, status }) => [id, status]));
  const { stallThresholds } = resolvedSettings(state.charter.settings);
  const { ledgers, rejections } = state.dispatches.current();
  return {
    ...overview(seen),
    run:
      run === undefined
        ? null
        : {
            spec: run.spec,
            ...(run.goal !== undefined && { goal: run.goal }),
            source: run.source,
            fingerprint: run.document.fingerprint,
            totals: totalsOf(run.document.tasks),
            active_task_id: activeTaskOf(run.document.tasks),
            problems: run.document.problems,
          },
    tasks: [...ledgers.values()].map((ledger) => {
      const raised = signalsOf(ledger, stallThresholds);
      const hint = replanHint(raised);
      const board = seen.board.tasks.get(ledger.task)?.status;
      const plan = planned.get(ledger.task);
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
    }),
    unreadable: unreadableTasks(rejections),
  };
}
