import { NOTE_TYPES, type NoteType } from '../contracts/session-meta-events.js';
import type { TaskStatus } from '../contracts/task-events.js';
import type { Iteration, IterationHistory } from '../session/iterations.js';
import { type Notebook, unread } from '../session/notebook.js';
import { numberOf, type Task, type TaskBoard } from '../session/task-board.js';
import { isBlocked, isReady, type Unresolved, unresolved } from '../session/task-dependencies.js';
import { age } from '../shared/age.js';
import { clipText, quoted } from '../shared/text.js';

/** The lists of an iteration prompt. Each quotes what an agent or a person wrote, as one capped line. */

const MAX_LINE = 500;
const SHOWN_ITERATIONS = 5;

/** `{{history}}`: the last five iterations, newest first, with their ages at `now`. */
export function formatIterationHistory(history: IterationHistory, board: TaskBoard, now: string): string {
  return history.iterations
    .slice(-SHOWN_ITERATIONS)
    .reverse()
    .map((iteration) => {
      const since = age(iteration.ended_at ?? iteration.started_at, now);
      return `- #${iteration.number} (${since}): ${accomplished(iteration, board)}`;
    })
    .join('\n');
}

/** `{{tasks}}`: by status, each with priority and id, and with what it waits for. */
export function formatTasksWithDeps(board: TaskBoard): string {
  const tasks = [...board.tasks.values()].sort(
    (a, b) => a.priority - b.priority || numberOf(a.id) - numberOf(b.id),
  );
  const group = (title: string, status: TaskStatus, waits: string) => {
    const lines = tasks
      .filter((task) => task.status === status)
      .map((task) => `  - ${taskLine(board, task, waits)}`);
    return lines.length === 0 ? [] : [[`${title}:`, ...lines].join('\n')];
  };
  const groups = [
    ...group('REMAINING', 'remaining', 'blocked by'),
    ...group('IN_PROGRESS', 'in_progress', 'blocked by'),
    ...group('BLOCKED', 'blocked', 'depends on'),
    ...group('COMPLETED', 'completed', ''),
  ];
  return groups.length === 0 ? 'No tasks yet' : groups.join('\n\n');
}

/** `{{ready_count}}`. */
export function countReadyTasks(board: TaskBoard): number {
  return count(board, (task) => isReady(board, task));
}

/** `{{blocked_count}}`. */
export function countBlockedTasks(board: TaskBoard): number {
  return count(board, (task) => isBlocked(board, task));
}

/** `{{completed_count}}`. */
export function countCompletedTasks(board: TaskBoard): number {
  return count(board, (task) => task.status === 'completed');
}

/** `{{notes}}`: grouped by type; empty without any. */
export function formatNotes(notebook: Notebook): string {
  const notes = [...notebook.notes.values()];
  const group = (type: NoteType) => {
    const lines = notes
      .filter((note) => note.type === type)
      .map((note) => `  - [${note.id}] ${line(note.content)}`);
    return lines.length === 0 ? [] : [[`${type.toUpperCase()}:`, ...lines].join('\n')];
  };
  const groups = NOTE_TYPES.flatMap(group);
  return groups.length === 0 ? '' : `## Notes\n${groups.join('\n\n')}`;
}

/** `{{inbox}}`: unread messages; empty without any. */
export function formatInbox(notebook: Notebook, now: string): string {
  const lines = unread(notebook).map(
    (message) => `- [${message.id}] (${age(message.created_at, now)}) ${line(message.content)}`,
  );
  return lines.length === 0 ? '' : `## Inbox\n${lines.join('\n')}`;
}

function taskLine(board: TaskBoard, task: Task, waits: string): string {
  const open = waits === '' ? [] : unresolved(board, task);
  const waiting = open.length === 0 ? '' : ` (${waits}: ${open.map(reason).join(', ')})`;
  const claimed =
    task.claimed_by !== undefined && task.status === 'in_progress'
      ? ` (claimed by ${line(task.claimed_by)})`
      : '';
  const why = task.status === 'blocked' && task.reason !== undefined ? ` (reason: ${line(task.reason)})` : '';
  const done = task.status === 'completed' && task.iteration > 0 ? ` [iteration #${task.iteration}]` : '';
  return `[P${task.priority}] [${task.id}] ${line(task.content)}${waiting}${why}${claimed}${done}`;
}

function reason({ id, why }: Unresolved): string {
  return why === 'missing' || why === 'cancelled' ? `${id}, ${why}` : id;
}

function accomplished(iteration: Iteration, board: TaskBoard): string {
  if (iteration.summary !== undefined) return line(iteration.summary);
  const completed = iteration.tasks_worked.flatMap((id) => {
    const task = board.tasks.get(id);
    // What it only worked on, a later iteration may have completed.
    const here = task?.status === 'completed' && task.iteration === iteration.number;
    return here ? [`"${clipText(line(task.content), 80)}"`] : [];
  });
  if (completed.length > 0) return `Completed ${completed.join(', ')}`;
  if (iteration.tasks_worked.length > 0) return `Worked on ${iteration.tasks_worked.join(', ')}`;
  return iteration.ended_at === undefined ? 'In progress' : 'No summary';
}

/** What an agent or a person wrote, as one capped line. */
export function line(text: string): string {
  return clipText(quoted(text), MAX_LINE);
}

function count(board: TaskBoard, counts: (task: Task) => boolean): number {
  let found = 0;
  for (const task of board.tasks.values()) if (counts(task)) found += 1;
  return found;
}
