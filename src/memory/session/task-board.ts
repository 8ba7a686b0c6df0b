import { z } from 'zod';
import { kindOf, ROLES, VERDICTS } from '../../contracts/kinds.js';
import type { Figures, taskView } from '../../contracts/replies/session-reply.js';
import type { Output } from '../../contracts/schema-fields.js';
import type { EventOf } from '../../contracts/session-events.js';
import { type TaskStatus, taskKey } from '../../contracts/task-events.js';
import type { OutcomeDigest } from '../../ledger/outcome-digest.js';
import { type LastOutcome, type OutcomeName, outcomeName } from '../../ledger/task-ledger.js';
import { dropOldest } from '../../shared/collections.js';
import { clipText } from '../../shared/text.js';

/** A task of the board. Immutable; an event replaces it. `result` is on the shown board only, and not stored. */
export type Task = Omit<Output<typeof taskView>, 'unresolved'>;

/** In the order of addition. */
export interface TaskBoard {
  readonly tasks: Map<string, Task>;
  /** Number of the newest task ever added: numbers of deleted tasks are not reused. */
  lastNumber: number;
  /** Tasks of the plan that an agent has claimed or handed over, the most recent at the end. */
  readonly planned: Map<string, PlanClaim>;
}

/** The claim of an agent on a task. */
type Claim = Pick<Task, 'claimed_by' | 'claimed_at' | 'handover'>;
export interface PlanClaim extends Claim {
  readonly id: string;
  /** When it was claimed. */
  readonly since?: string;
}

/** Time from the last sign of life of an agent to the end of its claims. */
const CLAIM_MS = 30 * 60_000;
/** Age at which a claim is renewed by an event. */
const RENEW_MS = 10 * 60_000;
const MAX_PLAN_CLAIMS = 1000;

export type TaskEvent = EventOf<
  | 'task.added'
  | 'task.status'
  | 'task.priority'
  | 'task.depends'
  | 'task.undepends'
  | 'task.content'
  | 'task.deleted'
  | 'task.claimed'
  | 'task.released'
>;

const OPEN: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['remaining', 'in_progress', 'blocked']);

export function emptyBoard(): TaskBoard {
  return { tasks: new Map(), lastNumber: 0, planned: new Map() };
}

export function isOpen(task: Task): boolean {
  return OPEN.has(task.status);
}

export function isBoardId(id: string): boolean {
  return /^TAS-\d+$/i.test(id);
}

/** Ids are ordered by number, never as text. */
export function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

export function byPriority(a: Task, b: Task): number {
  return a.priority - b.priority || numberOf(a.id) - numberOf(b.id);
}

export function statusAt({ status_at, updated_at }: Task): string {
  return status_at ?? updated_at;
}

const SETS_STATUS: ReadonlySet<TaskEvent['type']> = new Set(['task.status', 'task.claimed', 'task.released']);

/** Updates the time of change, and keeps the time of the status unless that was set. */
function stamped(before: Task, { status_at: _, ...after }: Task, at: string, setsStatus: boolean): Task {
  return { ...after, updated_at: at, ...(!setsStatus && { status_at: statusAt(before) }) };
}

/** Folds a task event. Events about unknown tasks are ignored. */
export function evolveTasks(board: TaskBoard, event: TaskEvent): void {
  if (event.type === 'task.added') {
    add(board, event);
    return;
  }
  const { task: id } = event.data;
  if (event.type === 'task.claimed' && renewed(board, event)) return;
  const task = board.tasks.get(id);
  if (task === undefined) {
    if (!isBoardId(id)) evolvePlanClaim(board, event);
    return;
  }
  if (event.type === 'task.deleted') {
    board.tasks.delete(id);
    return;
  }
  board.tasks.set(id, stamped(task, changed(task, event), event.at, SETS_STATUS.has(event.type)));
}

/**
 * Ends claims of iterations up to `iteration` and makes their tasks pending again. Not a status command: a result newer
 * than the claim still moves the task.
 */
export function expireClaims(board: TaskBoard, iteration: number, at: string): void {
  for (const task of board.tasks.values()) {
    if (task.claimed_by === undefined || !isOpen(task) || task.iteration > iteration) continue;
    board.tasks.set(task.id, stamped(task, released(task), at, false));
  }
}

/** Reopens a blocked task, because what blocked it is answered. */
export function unblock(board: TaskBoard, id: string, at: string): void {
  const task = board.tasks.get(id);
  if (task === undefined) return;
  const { reason: _, ...rest } = unclaimed(task);
  board.tasks.set(id, stamped(task, { ...rest, status: 'remaining' }, at, true));
}

/** A task of the board or of the plan, as far as claims are concerned. */
export function claimOf({ tasks, planned }: TaskBoard, id: string): Claim {
  const task = tasks.get(id);
  return task === undefined ? (planned.get(id) ?? {}) : { ...task, claimed_at: claimedAt(task) };
}

/** Returns the tasks that agents work on, the most recently claimed first. */
export function claimedTasks({ tasks, planned }: TaskBoard): Figures['working'] {
  const onBoard = [...tasks.values()]
    .filter(isOpen)
    .map((task) => ({ ...task, since: statusAt(task), claimed_at: claimedAt(task) }));
  return [...onBoard, ...planned.values()]
    .flatMap(({ id, claimed_by, since = '', claimed_at = since }) =>
      claimed_by === undefined ? [] : [{ task: id, agent: claimed_by, since, seen: claimed_at }],
    )
    .sort((a, b) => b.since.localeCompare(a.since));
}

/** Releases claims of agents that gave no sign of life for half an hour before `now`. Results still move the tasks. */
export function withoutLapsed(board: TaskBoard, now: string): TaskBoard {
  const until = Date.parse(now) - CLAIM_MS;
  const isLapsed = (at: string) => Date.parse(at) < until;
  const lapsed = [...board.tasks.values()].filter(
    (task) => task.claimed_by !== undefined && isOpen(task) && isLapsed(claimedAt(task)),
  );
  const free = [...board.planned.values()].filter(
    ({ claimed_by, claimed_at = '' }) => claimed_by !== undefined && isLapsed(claimed_at),
  );
  if (lapsed.length + free.length === 0) return board;
  const tasks = new Map(board.tasks);
  for (const task of lapsed) tasks.set(task.id, stamped(task, released(task), task.updated_at, false));
  const planned = new Map(board.planned);
  for (const claim of free) planned.set(claim.id, unclaimed(claim));
  return { ...board, tasks, planned };
}

/** True if a claim is old enough to be renewed. */
export function isDue({ claimed_at = '' }: Claim, now: string): boolean {
  return !(Date.parse(now) - Date.parse(claimed_at) < RENEW_MS);
}

function claimedAt(task: Task): string {
  return task.claimed_at ?? statusAt(task);
}

/** Renews all claims of an agent that claims a task again; false if it has not claimed this one. */
function renewed(board: TaskBoard, { at, data: { task: id, agent } }: EventOf<'task.claimed'>): boolean {
  const { tasks, planned } = board;
  if (claimOf(board, id).claimed_by !== agent) return false;
  for (const task of tasks.values())
    if (task.claimed_by === agent && isOpen(task)) tasks.set(task.id, { ...task, claimed_at: at });
  for (const claim of planned.values())
    if (claim.claimed_by === agent) planned.set(claim.id, { ...claim, claimed_at: at });
  return true;
}

function evolvePlanClaim({ planned }: TaskBoard, event: TaskEvent): void {
  const { task: id } = event.data;
  const free = unclaimed(planned.get(id) ?? { id });
  planned.delete(id);
  if (event.type === 'task.claimed')
    planned.set(id, { ...free, claimed_by: event.data.agent, since: event.at, claimed_at: event.at });
  if (event.type === 'task.released' && event.data.note !== undefined)
    planned.set(id, { id, ...handover(event) });
  dropOldest(planned, MAX_PLAN_CLAIMS);
}

function handover({ at, data: { agent, note } }: EventOf<'task.released'>): Pick<Task, 'handover'> {
  return note === undefined ? {} : { handover: { note, at, ...(agent !== undefined && { by: agent }) } };
}

function add(board: TaskBoard, { at, data }: EventOf<'task.added'>): void {
  const { task: id, content, status, priority, depends_on, iteration } = data;
  board.tasks.set(id, {
    id,
    content,
    status,
    priority,
    depends_on,
    created_at: at,
    updated_at: at,
    iteration,
  });
  board.lastNumber = Math.max(board.lastNumber, numberOf(id));
}

function changed(task: Task, event: Exclude<TaskEvent, EventOf<'task.added' | 'task.deleted'>>): Task {
  switch (event.type) {
    case 'task.status': {
      const { status, iteration, reason } = event.data;
      const { reason: _, ...kept } = status === 'remaining' ? unclaimed(task) : task;
      return { ...kept, status, iteration, ...(reason !== undefined && { reason }) };
    }
    case 'task.priority':
      return { ...task, priority: event.data.priority };
    case 'task.content':
      return { ...task, content: event.data.content };
    case 'task.depends':
      return { ...task, depends_on: [...new Set([...task.depends_on, ...event.data.depends_on])] };
    case 'task.undepends':
      return { ...task, depends_on: task.depends_on.filter((id) => !event.data.depends_on.includes(id)) };
    case 'task.claimed': {
      const { agent, iteration } = event.data;
      const { reason: _, ...free } = unclaimed(task);
      return { ...free, status: 'in_progress', iteration, claimed_by: agent };
    }
    case 'task.released':
      return { ...released(task), ...handover(event) };
  }
}

function released(task: Task): Task {
  const free = unclaimed(task);
  return task.status === 'in_progress' ? { ...free, status: 'remaining' } : free;
}

function unclaimed<Claimed extends Claim>({ claimed_by: _, claimed_at: __, ...free }: Claimed) {
  return free;
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

/** True if a result asks for more work on a task in progress without a claim. */
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
