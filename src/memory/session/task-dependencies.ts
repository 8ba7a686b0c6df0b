import { isSentBack } from './board-results.js';
import { byPriority, isOpen, type Task, type TaskBoard } from './task-board.js';

/** What a task waits for, and which task comes next. */

/** A dependency that is not completed, and why it does not count. */
export interface Unresolved {
  readonly id: string;
  readonly why: 'missing' | Exclude<Task['status'], 'completed'>;
}

/** Dependencies that keep a task waiting: any that is not completed; a missing or cancelled one never will be. */
export function unresolved(board: TaskBoard, task: Task): Unresolved[] {
  return task.depends_on.flatMap((id) => {
    const status = board.tasks.get(id)?.status;
    if (status === 'completed') return [];
    return [{ id, why: status ?? 'missing' }];
  });
}

/** Whether an agent could start on the task now. */
export function isReady(board: TaskBoard, task: Task): boolean {
  return task.status === 'remaining' && unresolved(board, task).length === 0;
}

/** Whether the task is open, but waits: marked as blocked, or for a dependency. */
export function isBlocked(board: TaskBoard, task: Task): boolean {
  return task.status === 'blocked' || (isOpen(task) && unresolved(board, task).length > 0);
}

/**
 * The task that an agent should take: one that was sent back and that nobody holds before those that are ready, each with
 * the lowest priority number; of those the oldest, by number.
 */
export function nextTask(board: TaskBoard): Task | undefined {
  const tasks = [...board.tasks.values()];
  return first(tasks.filter(isSentBack)) ?? first(tasks.filter((task) => isReady(board, task)));
}

/** The task with the lowest priority number; of those the oldest, by number. */
export function first(tasks: readonly Task[]): Task | undefined {
  return tasks.reduce<Task | undefined>(
    (best, task) => (best === undefined || byPriority(task, best) < 0 ? task : best),
    undefined,
  );
}

/**
 * The shortest cycle that new dependencies would close, from the task back to itself, or `undefined`. One walk for all
 * of them, which looks at each dependency of the board once at most.
 */
export function cycleThrough(
  board: TaskBoard,
  task: string,
  dependsOn: readonly string[],
): string[] | undefined {
  const cameFrom = new Map(dependsOn.map((other) => [other, task]));
  // A loop, not a recursion: a chain may be as long as a session has tasks. It grows while it is walked.
  const ahead = [...cameFrom.keys()];
  for (const from of ahead) {
    if (from === task) return wayTo(task, cameFrom);
    for (const next of board.tasks.get(from)?.depends_on ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, from);
      ahead.push(next);
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
