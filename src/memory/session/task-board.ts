import type { Told } from '../../contracts/replies/page-fields.js';
import type { taskView } from '../../contracts/replies/session-reply.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { TaskStatus } from '../../contracts/task-events.js';

/** A task of the board. Immutable; an event replaces it. `result` is on the shown board only, and not stored. */
export type Task = Omit<Told<typeof taskView>, 'unresolved'>;

/** In the order of addition. */
export interface TaskBoard {
  readonly tasks: Map<string, Task>;
  /** Number of the newest task ever added: numbers of deleted tasks are not reused. */
  lastNumber: number;
}

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
  return { tasks: new Map(), lastNumber: 0 };
}

export function isOpen(task: Task): boolean {
  return OPEN.has(task.status);
}

/** `TAS-<n>` */
export function taskIdOf(number: number): string {
  return `TAS-${number}`;
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
  const task = board.tasks.get(id);
  if (task === undefined) return;
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
      const { reason: _, ...free } = task;
      return { ...free, status: 'in_progress', iteration, claimed_by: agent };
    }
    case 'task.released':
      return released(task);
  }
}

function released(task: Task): Task {
  const free = unclaimed(task);
  return task.status === 'in_progress' ? { ...free, status: 'remaining' } : free;
}

function unclaimed(task: Task): Task {
  const { claimed_by: _, ...free } = task;
  return free;
}
