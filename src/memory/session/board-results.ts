import { kindOf } from '../../contracts/kinds.js';
import { taskKey } from '../../contracts/task-events.js';
import type { OutcomeDigest } from '../../ledger/outcome-digest.js';
import { type LastOutcome, type OutcomeName, outcomeName } from '../../ledger/task-ledger.js';
import { clipText } from '../../shared/text.js';
import { statusAt, type Task, type TaskBoard } from './task-board.js';

/**
 * The newest result of each board task. What is kept of a board comes from commands alone; the board that people and agents
 * see follows the results too: one that is newer than the last command on the status of its task moves the task. So the
 * order in which the events of results arrive makes no difference.
 */
export interface BoardResult extends LastOutcome {
  /** `TAS-<n>`. */
  readonly task: string;
  /** Why the task is blocked, or what was asked of it. */
  readonly why?: string;
}

/** As many as a board holds tasks; beyond that those are forgotten of which nothing has been heard for longest. */
const MAX_RESULTS = 5000;
const MAX_WHY = 200;

/** Takes in a result of a board task. One without a verdict, from before the session, or overtaken changes nothing. */
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
  const oldest = results.keys().next();
  if (results.size > MAX_RESULTS && !oldest.done) results.delete(oldest.value);
}

function whyOf({ verdict, blockers, fixes, issues, summary }: OutcomeDigest): string | undefined {
  if (verdict !== 'blocked' && verdict !== 'needs_changes') return undefined;
  const why = blockers[0] ?? fixes[0] ?? issues[0]?.message ?? summary;
  return why === undefined ? undefined : clipText(why, MAX_WHY);
}

/** The board as it is seen: moved by the results that are newer than the last command on the status of their task. */
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

function later(a: string, b: string): string {
  if (a > b) return a;
  return b;
}

/** Who gave a task up does not want it back, and work that was done is done for those who said so before. */
function statusAfter(status: Task['status'], { role, verdict }: BoardResult): Task['status'] {
  if (status === 'cancelled') return status;
  if (verdict === 'blocked') return 'blocked';
  if (verdict === 'approved') return 'completed';
  return verdict === 'completed' && kindOf(role).part === 'work' && status === 'completed'
    ? status
    : 'in_progress';
}

/** Results after which a task waits for someone who works on it. */
const ASK_FOR_WORK: ReadonlySet<OutcomeName> = new Set(['reviewer_needs_changes', 'implementer_failed']);

/** Whether a result asks for more work on a task in progress, and nobody holds it. */
export function isSentBack({ status, claimed_by, result }: Task): boolean {
  return (
    status === 'in_progress' &&
    claimed_by === undefined &&
    result !== undefined &&
    ASK_FOR_WORK.has(result.outcome)
  );
}

/** Whether an agent holds a task: it claimed it, and the work on it has not been handed in. */
export function isHeldBy({ status, claimed_by, result }: Task, agent: string): boolean {
  return status === 'in_progress' && claimed_by === agent && result?.outcome !== 'implementer_completed';
}
