import { activeTaskOf } from '../ledger/progress-ledger.js';
import type { SessionState } from '../session/session-state.js';
import { byPriority } from '../session/task-board.js';
import { isReady } from '../session/task-dependencies.js';

/** So many ready tasks say what is ahead: what comes after them will be asked for when it is their turn. */
const TASKS_AHEAD = 10;

/**
 * The words by which memory is chosen when nobody says what is about to be done: the goal, the tasks of the board in
 * progress and the next ready ones, and where the plan stands.
 */
export function whatIsAhead(state: SessionState): string {
  const { board, run } = state;
  const tasks = [...board.tasks.values()].sort(byPriority);
  const ahead = [
    ...tasks.filter((task) => task.status === 'in_progress').slice(0, TASKS_AHEAD),
    ...tasks.filter((task) => isReady(board, task)).slice(0, TASKS_AHEAD),
  ];
  const planned = run?.document.tasks ?? [];
  const active = activeTaskOf(planned);
  return [
    goalOf(state) ?? '',
    ...ahead.map((task) => task.content),
    planned.find(({ id }) => id === active)?.text ?? '',
  ]
    .filter((text) => text !== '')
    .join(' ')
    .trim();
}

/** What the session is for: as it was opened, else as its run says. */
export function goalOf({ charter, run }: SessionState): string | undefined {
  return charter.goal ?? run?.goal;
}
