import { z } from 'zod';
import { kindOf, ROLES, VERDICTS } from '../../contracts/kinds.js';
import type { Figures, planClaim, sessionView, taskView } from '../../contracts/replies/session-reply.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { EventOf, SessionEvent } from '../../contracts/session-events.js';
import { type TaskStatus, taskKey } from '../../contracts/task-events.js';
import { totalsOf } from '../../ledger/next-task.js';
import type { OutcomeDigest } from '../../ledger/outcome-digest.js';
import { type LastOutcome, type OutcomeName, outcomeName } from '../../ledger/task-ledger.js';
import { defined, dropOldest } from '../../shared/collections.js';
import { clipText, counted } from '../../shared/text.js';
import type { Run } from './charter.js';

/** A task of the board. Immutable; an event replaces it. `result` is on the shown board only, and not stored. */
export type Task = Omit<Output<typeof taskView>, 'unresolved' | keyof Claim>;

/** The claim of an agent on a task of board or plan, and what the last one left that gave the task back. */
export type Claim = Omit<Output<typeof planClaim>, 'id' | 'text'>;

/** In the order of addition. */
export interface TaskBoard {
  readonly tasks: Map<string, Task>;
  /** Number of the newest task ever added: numbers of deleted tasks are not reused. */
  lastNumber: number;
  /** The last tasks that were deleted, the most recent at the end. */
  readonly deleted: Map<string, Task>;
  /** By task of the board or of the plan, the most recent at the end. */
  readonly claims: Map<string, Claim>;
}

/** More than a board has tasks. */
const MAX_CLAIMS = 6000;
const MAX_DELETED = 20;

export type TaskEvent = Extract<SessionEvent, { readonly type: `task.${string}` }>;

const OPEN: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['remaining', 'in_progress', 'blocked']);

export function isOpen(task: Task): boolean {
  return OPEN.has(task.status);
}

export function isBoardId(id: string): boolean {
  return /^TAS-\d+$/i.test(id);
}

export function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

export function byPriority(a: Task, b: Task): number {
  return a.priority - b.priority || numberOf(a.id) - numberOf(b.id);
}

export function statusAt({ status_at, updated_at }: Task): string {
  return status_at ?? updated_at;
}

const SETS_STATUS: ReadonlySet<TaskEvent['type']> = new Set(['task.status', 'task.claimed']);

/** Updates the time of change, and keeps the time of the status unless that was set. */
function stamped(before: Task, { status_at: _, ...after }: Task, at: string, setsStatus: boolean): Task {
  return { ...after, updated_at: at, ...(!setsStatus && { status_at: statusAt(before) }) };
}

export function evolveTasks(board: TaskBoard, event: TaskEvent): void {
  const { tasks, deleted } = board;
  const { task: id } = event.data;
  if (event.type === 'task.added') {
    const { content, status, priority, depends_on, by, iteration } = event.data;
    const words = { content, ...defined({ by }), status, priority, depends_on };
    tasks.set(id, { id, ...words, created_at: event.at, updated_at: event.at, iteration });
    board.lastNumber = Math.max(board.lastNumber, numberOf(id));
    return;
  }
  const isUndone = event.type === 'task.deleted' && event.data.undo === true;
  const task = (isUndone ? deleted : tasks).get(id);
  if (task === undefined && isBoardId(id)) return;
  evolveClaim(board, event);
  if (event.type === 'task.deleted' && task !== undefined) {
    const [from, to] = isUndone ? [deleted, tasks] : [tasks, deleted];
    from.delete(id);
    to.set(id, task);
    dropOldest(deleted, MAX_DELETED);
    const later = isUndone ? [...tasks.values()].filter((other) => numberOf(other.id) > numberOf(id)) : [];
    for (const other of later) {
      tasks.delete(other.id);
      tasks.set(other.id, other);
    }
  } else if (event.type !== 'task.deleted' && task !== undefined)
    tasks.set(id, stamped(task, changed(task, event), event.at, SETS_STATUS.has(event.type)));
}

/** Makes claimed tasks of iterations up to `iteration` pending again; results newer than the claim still move them. */
export function expireClaims(board: TaskBoard, iteration: number, at: string): void {
  for (const task of board.tasks.values())
    if (isClaimed(board, task.id) && task.iteration <= iteration) freeTask(board, task.id, at);
}

export function unblock(board: TaskBoard, id: string, at: string): void {
  const task = board.tasks.get(id);
  if (task === undefined) return;
  const { reason: _, ...rest } = task;
  unclaim(board, id);
  board.tasks.set(id, stamped(task, { ...rest, status: 'remaining' }, at, true));
}

/** Returns the claim on a task of the board or of the plan; a completed one keeps that of the agent that did it. */
export function claimOf({ claims }: TaskBoard, id: string): Claim {
  return claims.get(id) ?? {};
}

function isClaimed(board: TaskBoard, id: string): boolean {
  const task = board.tasks.get(id);
  return claimOf(board, id).claimed_by !== undefined && (task === undefined || isOpen(task));
}

export function claimedTasks(board: TaskBoard, ledgers: Ledgers): Figures['working'] {
  return [...board.claims]
    .flatMap(([task, { claimed_at: since = '' }]) => {
      const agent = holderOf(board, task, ledgers);
      return agent === undefined ? [] : [{ task, agent, since }];
    })
    .sort((a, b) => b.since.localeCompare(a.since));
}

/** Returns the board without some claims, whose agents have given no sign of life. Results still move the tasks. */
export function withoutClaims(board: TaskBoard, ended: readonly string[]): TaskBoard {
  const free = { ...board, tasks: new Map(board.tasks), claims: new Map(board.claims) };
  for (const task of ended) freeTask(free, task, board.tasks.get(task)?.updated_at ?? '');
  return free;
}

function evolveClaim(board: TaskBoard, { type, at, data }: TaskEvent): void {
  const { claims } = board;
  const { task: id } = data;
  if (type === 'task.deleted') claims.delete(id);
  if (type === 'task.released' || (type === 'task.status' && data.status === 'remaining')) unclaim(board, id);
  if (type === 'task.released' && data.note !== undefined) {
    const by = data.agent === undefined ? {} : { by: data.agent };
    claims.set(id, { handover: { note: data.note, ...by, at } });
  }
  if (type !== 'task.claimed') return;
  const { handover } = claimOf(board, id);
  claims.delete(id);
  claims.set(id, { claimed_by: data.agent, claimed_at: at, ...(handover && { handover }) });
  dropOldest(claims, MAX_CLAIMS);
}

function unclaim({ claims }: TaskBoard, id: string): void {
  const { handover } = claims.get(id) ?? {};
  if (handover === undefined) claims.delete(id);
  else claims.set(id, { handover });
}

function freeTask(board: TaskBoard, id: string, at: string): void {
  unclaim(board, id);
  const task = board.tasks.get(id);
  if (task !== undefined) board.tasks.set(id, stamped(task, released(task), at, false));
}

function changed(task: Task, event: Exclude<TaskEvent, EventOf<'task.added' | 'task.deleted'>>): Task {
  switch (event.type) {
    case 'task.status': {
      const { status, iteration, reason } = event.data;
      const { reason: _, ...kept } = task;
      return { ...kept, status, iteration, ...(reason !== undefined && { reason }) };
    }
    case 'task.priority':
      return { ...task, priority: event.data.priority };
    case 'task.content':
      return withText(task, event.data);
    case 'task.depends':
      return { ...task, depends_on: [...new Set([...task.depends_on, ...event.data.depends_on])] };
    case 'task.undepends':
      return { ...task, depends_on: task.depends_on.filter((id) => !event.data.depends_on.includes(id)) };
    case 'task.claimed': {
      const { reason: _, ...free } = task;
      return { ...free, status: 'in_progress', iteration: event.data.iteration };
    }
    case 'task.released':
      return released(task);
  }
}

function withText({ by: _, ...task }: Task, { content, by }: EventOf<'task.content'>['data']): Task {
  return { ...task, content, ...defined({ by }) };
}

function released(task: Task): Task {
  return task.status === 'in_progress' ? { ...task, status: 'remaining' } : task;
}

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
export type BoardResult = Output<typeof boardResult>;

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
  const isNewer = at > task.updated_at;
  return { ...rest, status, ...(isNewer && { updated_at: at }), ...(why !== undefined && { reason: why }) };
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

const ASK_FOR_WORK: ReadonlySet<OutcomeName> = new Set(['reviewer_needs_changes', 'implementer_failed']);

/** True if a result asks for more work on a task in progress without a claim. */
export function isSentBack(board: TaskBoard, { id, status, result }: Task): boolean {
  const asksForWork = result !== undefined && ASK_FOR_WORK.has(result.outcome);
  return status === 'in_progress' && asksForWork && !isClaimed(board, id);
}

type Ledgers = ReadonlyMap<string, { readonly last: LastOutcome }>;

/** Results of a task of the plan by which an agent has returned its work. */
const RETURNED: ReadonlySet<OutcomeName> = new Set(['implementer_completed', 'reviewer_approved']);

export function hasReturned(board: TaskBoard, id: string, ledgers: Ledgers): boolean {
  const task = board.tasks.get(id);
  if (task !== undefined) return task.result?.outcome === 'implementer_completed';
  const { claimed_at = '' } = claimOf(board, id);
  const last = ledgers.get(id)?.last;
  return last !== undefined && last.at >= claimed_at && RETURNED.has(outcomeName(last));
}

export function holderOf(board: TaskBoard, id: string, ledgers: Ledgers): string | undefined {
  const { status = 'in_progress' } = board.tasks.get(id) ?? {};
  const isOver = status !== 'in_progress' || hasReturned(board, id, ledgers);
  return isOver ? undefined : claimOf(board, id).claimed_by;
}

export type Unresolved = Output<typeof taskView>['unresolved'][number];

/** Returns the dependencies that are not completed; missing or cancelled ones never will be. */
export function unresolved(board: TaskBoard, task: Task): Unresolved[] {
  return task.depends_on.flatMap((id) => {
    const status = board.tasks.get(id)?.status;
    if (status === 'completed') return [];
    return [{ id, why: status ?? 'missing' }];
  });
}

export function isReady(board: TaskBoard, task: Task): boolean {
  return task.status === 'remaining' && unresolved(board, task).length === 0;
}

/** Returns the unclaimed tasks that an agent could take: those sent back before ready ones, by priority, then age. */
export function nextTasks(board: TaskBoard): Task[] {
  const tasks = [...board.tasks.values()];
  const ready = tasks.filter((task) => isReady(board, task));
  return [...tasks.filter((task) => isSentBack(board, task)).sort(byPriority), ...ready.sort(byPriority)];
}

/** Returns the shortest cycle that new dependencies would close, from the task back to itself (breadth-first). */
export function cycleThrough(board: TaskBoard, task: string, dependsOn: readonly string[]) {
  const cameFrom = new Map(dependsOn.map((other) => [other, task]));
  // Iterative, because a chain may be as long as a session has tasks. The list grows while it is walked.
  const queue = [...cameFrom.keys()];
  for (const from of queue) {
    if (from === task) {
      const way = [task];
      for (let at = cameFrom.get(task); at !== undefined && at !== task; at = cameFrom.get(at)) way.push(at);
      return [...way, task].reverse();
    }
    for (const next of board.tasks.get(from)?.depends_on ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, from);
      queue.push(next);
    }
  }
  return undefined;
}

/** Counts by status; `ready` tasks are pending with finished dependencies, `waiting` ones blocked or behind one. */
export type BoardCounts = TaskCounts['board'];

/** Counts of board and plan; no plan before `run.init`. */
export type TaskCounts = Pick<Output<typeof sessionView>, 'board' | 'plan'>;

export function taskCounts({ board, run }: { board: TaskBoard; run?: Run | undefined }): TaskCounts {
  return { board: boardCounts(board), plan: run === undefined ? null : totalsOf(run.document.tasks) };
}

export function boardCounts(board: TaskBoard): BoardCounts {
  const counts = {
    total: board.tasks.size,
    ready: 0,
    waiting: 0,
    remaining: 0,
    in_progress: 0,
    blocked: 0,
    completed: 0,
    cancelled: 0,
  };
  for (const task of board.tasks.values()) {
    counts[task.status] += 1;
    if (isReady(board, task)) counts.ready += 1;
    if (task.status === 'blocked' || (isOpen(task) && unresolved(board, task).length > 0))
      counts.waiting += 1;
  }
  return counts;
}

/** `3 of 8 tasks completed, 1 in progress, 2 ready, 1 waiting`, without cancelled ones. */
export function boardLine({ total, cancelled, completed, in_progress, ready, waiting }: BoardCounts): string {
  const tasks = counted(total - cancelled, 'task');
  return `${completed} of ${tasks} completed, ${in_progress} in progress, ${ready} ready, ${waiting} waiting`;
}
