import type { EventOf } from '../../contracts/session-events.js';
import type { TaskStatus } from '../../contracts/task-events.js';
import type { OutcomeName } from '../../ledger/task-ledger.js';

/** A task as it is kept and shown. Immutable; an event replaces it. */
export interface Task {
  readonly id: string;
  readonly content: string;
  readonly status: TaskStatus;
  /** 0 critical, 1 high, 2 medium, 3 low, 4 backlog. */
  readonly priority: number;
  readonly depends_on: readonly string[];
  /** ISO 8601 in UTC. */
  readonly created_at: string;
  readonly updated_at: string;
  /** When a command last set its status, where something else has changed since. */
  readonly status_at?: string;
  /** Iteration in which its status last changed; 0 before the first one. */
  readonly iteration: number;
  /** Agent that took it. */
  readonly claimed_by?: string;
  /** Why it has its status, as the one who set it said. */
  readonly reason?: string;
  /** The result that moved it, where no command has come since: a part of the board as it is seen, not of what is kept. */
  readonly result?: { readonly dispatch: number; readonly at: string; readonly outcome: OutcomeName };
}

/** All tasks of a session, in the order in which they were added. */
export interface TaskBoard {
  readonly tasks: Map<string, Task>;
  /** Number of the newest task ever added: a deleted one's number never comes again. */
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

/** Whether a task is still to be done. */
export function isOpen(task: Task): boolean {
  return OPEN.has(task.status);
}

/** `TAS-<n>`. */
export function taskIdOf(number: number): string {
  return `TAS-${number}`;
}

/** The number in `TAS-<n>`: ids are ordered by it, never as text. */
export function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

/** The order in which tasks are to be done: by priority, of those the oldest first. */
export function byPriority(a: Task, b: Task): number {
  return a.priority - b.priority || numberOf(a.id) - numberOf(b.id);
}

/** When a command last set the status of a task. */
export function statusAt({ status_at, updated_at }: Task): string {
  return status_at ?? updated_at;
}

const SETS_STATUS: ReadonlySet<TaskEvent['type']> = new Set(['task.status', 'task.claimed', 'task.released']);

/** A changed task at the time of the change, with the time at which `before` got its status unless it got a new one. */
function stamped(before: Task, { status_at: _, ...after }: Task, at: string, setsStatus: boolean): Task {
  return { ...after, updated_at: at, ...(!setsStatus && { status_at: statusAt(before) }) };
}

/** Folds a task event. An event about a task that is not there changes nothing. */
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
 * Ends the claims of iterations up to `iteration`: what was in progress under one is to be done again. Nobody set a
 * status: a result that is newer than the claim still moves the task.
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
