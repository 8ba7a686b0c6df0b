import type { Told } from '../../contracts/replies/page-fields.js';
import type { sessionView } from '../../contracts/replies/session-reply.js';
import { totalsOf } from '../../ledger/progress-ledger.js';
import { counted } from '../../shared/text.js';
import type { SessionState } from './session-state.js';
import type { TaskBoard } from './task-board.js';
import { isBlocked, isReady } from './task-dependencies.js';

/**
 * Counts by status; `ready` tasks are pending without unfinished dependencies, `waiting` ones open but blocked or behind
 * a dependency.
 */
export type BoardCounts = TaskCounts['board'];

/** Counts of board and plan; no plan before `run.init`. */
export type TaskCounts = Pick<Told<typeof sessionView>, 'board' | 'plan'>;

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
