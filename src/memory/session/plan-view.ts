import type { NextAction } from '../../contracts/kinds.js';
import type { LedgerShown, LedgersListed } from '../../contracts/replies/run-reply.js';
import type { PlanProblem, ProgressTask, TasksDocument } from '../../contracts/run-request.js';
import type { ToolArguments } from '../../contracts/tool-requests.js';
import { ledgerEntries } from '../../ledger/ledger-entries.js';
import { outlookOf, type PlannedTask } from '../../ledger/next-task.js';
import type { OutcomeName } from '../../ledger/task-ledger.js';
import { nearIdsHint } from '../../shared/near-ids.js';
import { oneLine } from '../../shared/text.js';
import { resolvedSettings } from './charter.js';
import { unreadableResult, unreadableTasks, unreadOf } from './known-rejections.js';
import { planInNumbers, progressOf, type RunStatus } from './run-status.js';
import { ledgersOf, rejectionsOf, type SessionState, seenState } from './session-state.js';

/** The plan that a session follows, with what came of each task: the reply of `plan-show`. */
export interface PlanView {
  /** Null before `run.init`. */
  readonly plan: RunStatus['run'];
  /** In the order of the plan: a part stands behind what it is a part of. */
  readonly tasks: readonly PlanTaskView[];
  /** The first reports about lines of the plan; `plan` counts the lines and tasks of all. */
  readonly problems: readonly PlanProblem[];
  /** How many reports there are beyond these. */
  readonly more_problems?: number;
  /** How many tasks have a shortened text or prompt, or no requirements, because the plan is so large. */
  readonly shortened?: NonNullable<TasksDocument['shortened']>;
}

/** A task of the plan as an answer shows it, with what came of it. */
export interface PlanTaskView {
  readonly id: string;
  readonly text: string;
  /** Number of tasks that it is a part of. */
  readonly depth: number;
  /** What the plan says. */
  readonly status: ProgressTask['status'];
  readonly parent?: string;
  /** Its status comes from its parts. */
  readonly group?: true;
  readonly blocked?: true;
  readonly optional?: true;
  readonly cancelled?: true;
  readonly depends_on?: readonly string[];
  /** Of these, and of those of the tasks that it is a part of: what is not done. */
  readonly waits_for?: readonly string[];
  /** Dependencies that the plan does not have: nothing waits for them. */
  readonly unknown_dependencies?: readonly string[];
  readonly requirements?: readonly string[];
  /** Only where the request names the task. */
  readonly prompt?: string;
  /** Of its newest result. */
  readonly last_outcome?: OutcomeName;
  readonly next_action?: NextAction;
  readonly dispatches?: number;
}

/** The plan of a session; of all tasks, or of those that the request asks for. */
export function planView(state: SessionState, { id, status }: ToolArguments<'plan-show'>): PlanView {
  const { run } = state;
  if (run === undefined) return { plan: null, tasks: [], problems: [] };
  const seen = seenState(state);
  const ledgers = ledgersOf(state);
  const { document } = run;
  const outlook = outlookOf(document.tasks, ledgers);
  const asked = outlook.planned.filter(
    (each) => (id === undefined || each.task.id === id) && (status === undefined || stateOf(each) === status),
  );
  const { firstProblems = [], moreProblems = 0 } = document;
  return {
    plan: planInNumbers(run, ledgers, outlook),
    tasks: asked.map((each) => taskView(seen, each, id !== undefined)),
    problems: firstProblems,
    ...(moreProblems > 0 && { more_problems: moreProblems }),
    ...(document.shortened !== undefined && { shortened: document.shortened }),
  };
}

/** What a task is, in one word: blocked and cancelled come before what its line says. */
function stateOf({ task, isBlocked }: PlannedTask): NonNullable<ToolArguments<'plan-show'>['status']> {
  if (task.cancelled === true) return 'cancelled';
  return isBlocked ? 'blocked' : task.status;
}

function taskView(
  state: SessionState,
  { task, depth, isBlocked, isOptional, waitsFor, unknown }: PlannedTask,
  isWhole: boolean,
): PlanTaskView {
  const { id, text, status, parent, group, cancelled, dependsOn, requirements, prompt } = task;
  const ledger = ledgersOf(state).get(id);
  const came = ledger && progressOf(state, ledger);
  return {
    id,
    text,
    depth,
    status,
    ...(parent !== undefined && { parent }),
    ...(group && { group }),
    ...(isBlocked && { blocked: true }),
    ...(isOptional && { optional: true }),
    ...(cancelled && { cancelled }),
    ...(dependsOn !== undefined && { depends_on: dependsOn }),
    ...(waitsFor.length > 0 && { waits_for: waitsFor }),
    ...(unknown.length > 0 && { unknown_dependencies: unknown }),
    ...(isWhole && requirements !== undefined && { requirements }),
    ...(isWhole && prompt !== undefined && { prompt }),
    ...(came && {
      last_outcome: came.last_outcome,
      next_action: came.next_action,
      dispatches: came.dispatches,
    }),
  };
}

/** What the ledgers of a session show: all tasks in a list, and the known entries of one. */

export function ledgerList(state: SessionState): Omit<LedgersListed, 'sequence'> {
  const seen = seenState(state);
  const tasks = [...ledgersOf(state).values()].map((ledger) => ({
    ...progressOf(seen, ledger),
    rounds: ledger.approvalLoops,
    findings: ledger.issues.length + ledger.requiredFixes.length,
    blockers: ledger.blockers.length,
    last_dispatch: ledger.last.sequence,
  }));
  return { tasks, unreadable: unreadableTasks(rejectionsOf(state)) };
}

/** The known entries of one task's ledger, together with those of the progress; a remark where the task is not known. */
export function ledgerOf(state: SessionState, task: string): Omit<LedgerShown, 'sequence'> {
  const ledgers = ledgersOf(state);
  const rejections = rejectionsOf(state);
  const planned = state.run?.document.tasks.map(({ id }) => id) ?? [];
  const known = new Set([...planned, ...ledgers.keys(), ...rejections.flatMap((each) => each.task ?? [])]);
  if (!known.has(task)) {
    const remark = `nothing is known about task ${oneLine(task)}${oneLine(nearIdsHint(task, known))}`;
    return { task, entries: {}, remark };
  }
  const { stallThresholds } = resolvedSettings(state.charter.settings);
  const unread = unreadOf(rejections, task);
  const unreadable = unread && unreadableResult(unread);
  const entries = ledgerEntries(ledgers.get(task), state.run?.document, stallThresholds, unreadable, ledgers);
  return { task, entries: { ...entries } };
}
