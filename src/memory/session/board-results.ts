import { z } from 'zod';
import { kindOf, ROLES, VERDICTS } from '../../contracts/kinds.js';
import type { Told } from '../../contracts/replies/page-fields.js';
import { taskKey } from '../../contracts/task-events.js';
import type { OutcomeDigest } from '../../ledger/outcome-digest.js';
import { type LastOutcome, type OutcomeName, outcomeName } from '../../ledger/task-ledger.js';
import { dropOldest } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';
import { statusAt, type Task, type TaskBoard } from './task-board.js';

/**
 * The newest result of each board task. The stored board changes by commands only; the shown board also follows results
 * that are newer than the last command on a task's status. So the order in which results arrive does not matter.
 */
export const boardResult = z.object({
  /** `TAS-<n>`. */
  task: z.string(),
  sequence: z.number(),
  at: z.string(),
  role: z.enum(ROLES),
  verdict: z.enum(VERDICTS),
  /** The reason why it is blocked, or the demand. */
  why: z.string().exactOptional(),
});
export type BoardResult = Told<typeof boardResult>;

/** Equals the maximum number of tasks on a board; the least recent are evicted. */
const MAX_RESULTS = 5000;
const MAX_WHY = 200;

/** Adds a result of a board task. Results without a verdict, from before the session, or overtaken are ignored. */
export function addBoardResult(
  results: Map<string, BoardResult>,
  dispatch: { readonly task: string; readonly sequence: number; readonly at: string },
  digest: OutcomeDigest,
): void {
  const { task, sequence, at } = dispatch;
  const { role, verdict } = digest;
  if (verdict === undefined || digest.history === true || !taskKey.safeParse(task).success) return;
  if ((results.get(task)?.sequence ?? 0) > sequence) return;
  const why = whyOf(digest);
  results.delete(task);
  results.set(task, { task, sequence, at, role, verdict, ...(why !== undefined && { why }) });
  dropOldest(results, MAX_RESULTS);
}

function whyOf({ verdict, blockers, fixes, issues, summary }: OutcomeDigest): string | undefined {
  if (verdict !== 'blocked' && verdict !== 'needs_changes') return undefined;
  const why = blockers[0] ?? fixes[0] ?? issues[0]?.message ?? summary;
  return why === undefined ? undefined : clipText(why, MAX_WHY);
}

/** Applies results newer than the last command on their task's status. */
export function movedBoard(board: TaskBoard, results: ReadonlyMap<string, BoardResult>): TaskBoard {
  const tasks = new Map(board.tasks);
  for (const result of results.values()) {
    const task = tasks.get(result.task);
    if (task !== undefined && result.at > statusAt(task)) tasks.set(task.id, movedTask(task, result));
  }
  return { ...board, tasks };
}

function movedTask(task: Task, result: BoardResult): Task {
  const { sequence: dispatch, at, why } = result;
  const seen: Task = { ...task, result: { dispatch, at, outcome: outcomeName(result) } };
  const status = statusAfter(task.status, result);
  if (status === task.status && why === undefined) return seen;
  const { reason: _, ...rest } = seen;
  return {
    ...rest,
    status,
    updated_at: later(at, task.updated_at),
    ...(why !== undefined && { reason: why }),
  };
}

export function later(a: string, b: string): string {
  if (a > b) return a;
  return b;
}

/** A cancelled task stays cancelled, and work on a completed task does not reopen it. */
function statusAfter(status: Task['status'], { role, verdict }: BoardResult): Task['status'] {
  if (status === 'cancelled') return status;
  if (verdict === 'blocked') return 'blocked';
  if (verdict === 'approved') return 'completed';
  return verdict === 'completed' && kindOf(role).part === 'work' && status === 'completed'
    ? status
    : 'in_progress';
}

/** Results after which a task waits for a worker. */
const ASK_FOR_WORK: ReadonlySet<OutcomeName> = new Set(['reviewer_needs_changes', 'implementer_failed']);

/** True if a result asks for more work on a task in progress that nobody claims. */
export function isSentBack({ status, claimed_by, result }: Task): boolean {
  return (
    status === 'in_progress' &&
    claimed_by === undefined &&
    result !== undefined &&
    ASK_FOR_WORK.has(result.outcome)
  );
}

/** Returns the agent that has claimed a task and not returned its work. */
export function holderOf(
  { tasks, planned }: TaskBoard,
  id: string,
  ledgers: ReadonlyMap<string, { readonly last: LastOutcome }>,
): string | undefined {
  const task = tasks.get(id);
  if (task !== undefined)
    return task.status === 'in_progress' && task.result?.outcome !== 'implementer_completed'
      ? task.claimed_by
      : undefined;
  const { claimed_by, since = '' } = planned.get(id) ?? {};
  const last = ledgers.get(id)?.last;
  const isReturned = last !== undefined && last.at > since && outcomeName(last) === 'implementer_completed';
  return isReturned ? undefined : claimed_by;
}
