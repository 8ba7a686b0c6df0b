import type { sessionView, taskView } from '../../contracts/replies/session-reply.js';
import type { Output } from '../../contracts/schema-fields.js';
import { totalsOf } from '../../ledger/next-task.js';
import { counted } from '../../shared/text.js';
import type { SessionState } from './session-state.js';
import { byPriority, isOpen, isSentBack, type Task, type TaskBoard } from './task-board.js';

/** An unfinished dependency, and why. */
export type Unresolved = Output<typeof taskView>['unresolved'][number];

/** Returns the dependencies that are not completed; missing or cancelled ones never will be. */
export function unresolved(board: TaskBoard, task: Task): Unresolved[] {
  return task.depends_on.flatMap((id) => {
    const status = board.tasks.get(id)?.status;
    if (status === 'completed') return [];
    return [{ id, why: status ?? 'missing' }];
  });
}

/** True if an agent could start the task now. */
export function isReady(board: TaskBoard, task: Task): boolean {
  return task.status === 'remaining' && unresolved(board, task).length === 0;
}

/** True if the task is open, but marked as blocked or behind a dependency. */
export function isBlocked(board: TaskBoard, task: Task): boolean {
  return task.status === 'blocked' || (isOpen(task) && unresolved(board, task).length > 0);
}

/**
 * Returns the tasks that an agent could work on: unclaimed ones that were sent back before ready ones, each by priority, then
 * age.
 */
export function nextTasks(board: TaskBoard): Task[] {
  const tasks = [...board.tasks.values()];
  const ready = tasks.filter((task) => isReady(board, task));
  return [...tasks.filter((task) => isSentBack(board, task)).sort(byPriority), ...ready.sort(byPriority)];
}

/**
 * Returns the shortest cycle that new dependencies would close, from the task back to itself. A single breadth-first
 * search covers all of them.
 */
export function cycleThrough(
  board: TaskBoard,
  task: string,
  dependsOn: readonly string[],
): string[] | undefined {
  const cameFrom = new Map(dependsOn.map((other) => [other, task]));
  // Iterative, because a chain may be as long as a session has tasks. The list grows while it is walked.
  const queue = [...cameFrom.keys()];
  for (const from of queue) {
    if (from === task) return wayTo(task, cameFrom);
    for (const next of board.tasks.get(from)?.depends_on ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, from);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(task: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [task];
  let at = cameFrom.get(task);
  for (; at !== undefined && at !== task; at = cameFrom.get(at)) way.push(at);
  return [...way, task].reverse();
}

/**
 * Counts by status; `ready` tasks are pending without unfinished dependencies, `waiting` ones open but blocked or behind
 * a dependency.
 */
export type BoardCounts = TaskCounts['board'];

/** Counts of board and plan; no plan before `run.init`. */
export type TaskCounts = Pick<Output<typeof sessionView>, 'board' | 'plan'>;

export function taskCounts({ board, run }: Pick<SessionState, 'board' | 'run'>): TaskCounts {
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
    if (isBlocked(board, task)) counts.waiting += 1;
  }
  return counts;
}

/** `3 of 8 tasks completed, 1 in progress, 2 ready, 1 waiting`, without cancelled ones. */
export function boardLine({ total, cancelled, completed, in_progress, ready, waiting }: BoardCounts): string {
  const tasks = counted(total - cancelled, 'task');
  return `${completed} of ${tasks} completed, ${in_progress} in progress, ${ready} ready, ${waiting} waiting`;
}
