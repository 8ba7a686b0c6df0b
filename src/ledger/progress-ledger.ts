import type { Told } from '../contracts/replies/page-fields.js';
import type { planTotals } from '../contracts/replies/session-reply.js';
import type { ProgressTask } from '../contracts/run-request.js';

export type ProgressTotals = Told<typeof planTotals>;

/** Excludes cancelled tasks and groups. */
function countedTasks(tasks: readonly ProgressTask[]): ProgressTask[] {
  return tasks.filter((task) => task.cancelled !== true && task.group !== true);
}

export function totalsOf(tasks: readonly ProgressTask[]): ProgressTotals {
  const counted = countedTasks(tasks);
  const count = (status: ProgressTask['status']) => counted.filter((task) => task.status === status).length;
  return {
    total: counted.length,
    completed: count('completed'),
    inProgress: count('in-progress'),
    pending: count('pending'),
  };
}

export function leavesOf(tasks: readonly ProgressTask[]): ProgressTask[] {
  const parents = new Set(tasks.flatMap((task) => task.parent ?? []));
  return countedTasks(tasks).filter((task) => !parents.has(task.id));
}

/** Names that every plan has, which say nothing about it. */
const USUAL =
  /^(tasks?|plans?|todos?|specs?|changes|docs?|\.kiro|\.spec-workflow|openspec|\.taskmaster|\.cursor|\.|\.\.)$/i;

export function specNameOf(path: string): string {
  const parts = path.split(/[/\\]+/).filter((part) => part !== '');
  const file = parts.pop()?.replace(/\.[^.]*$/, '') ?? '';
  const name = [file, ...parts.reverse()].find((part) => part !== '' && !USUAL.test(part));
  return (name ?? 'plan').slice(0, 200);
}
