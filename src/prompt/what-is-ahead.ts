import type { SessionState } from '../session/session-state.js';
import { isOpen } from '../session/task-board.js';
import { isReady } from '../session/task-dependencies.js';

/** The words by which memory is chosen when nobody says what is about to be done: the goal and the ready tasks. */
export function whatIsAhead({ charter, board }: SessionState): string {
  const tasks = [...board.tasks.values()].filter(isOpen);
  const ahead = tasks.filter((task) => isReady(board, task) || task.status === 'in_progress');
  return [charter.goal ?? '', ...ahead.map((task) => task.content)].join(' ').trim();
}
