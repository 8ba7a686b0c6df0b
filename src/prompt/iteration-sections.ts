import type { ProgressTask } from '../contracts/plan-requests.js';
import { NOTE_TYPES } from '../contracts/session-meta-events.js';
import { outlookOf, type PlannedTask, type TaskResults } from '../ledger/next-task.js';
import type { Note } from '../memory/facts/fact-types.js';
import type { Charter } from '../memory/session/charter.js';
import type { Iteration, IterationHistory } from '../memory/session/iterations.js';
import { isForPerson, unread } from '../memory/session/notebook.js';
import type { Notebook } from '../memory/session/session-state.js';
import {
  byPriority,
  claimOf,
  isReady,
  type Task,
  type TaskBoard,
  type Unresolved,
  unresolved,
} from '../memory/session/task-board.js';
import { age, clipText, counted, lengthOf, quoted, quotedLines } from '../shared/text.js';
import { claimNote, leftBy } from '../shared/wire-words.js';
import {
  beginnings,
  type Item,
  isShortened,
  line,
  MAX_LINE,
  type Shown,
  type ShownItem,
  wholeItems,
} from './fill-prompt.js';

/**
 * The lists of an iteration prompt, as items and as text. Each item quotes its author in one capped line. A shortened
 * list says so, with the command that shows the rest.
 */
export type IterationList =
  | 'goal'
  | 'spec'
  | 'history'
  | 'inbox'
  | 'notes'
  | 'ready'
  | 'waiting'
  | 'in_progress'
  | 'blocked'
  | 'completed';

const MAX_MESSAGE = 1000;
/** No budget fits more of a specification. */
const MAX_SPEC_LINES = 4000;
const MAX_SPEC_LINE = 4000;
/** Length of the shortest form, and steps between forms, in characters. */
const LEAST = 100;
const SHORT_STEP = 60;
const LONG_STEP = 200;
const SHOWN_ITERATIONS = 5;
const SHOWN_COMPLETED = 10;
const SHOWN_DEPENDENCIES = 10;

/** A list with its items, their total number, and the command that shows all. */
interface PromptList {
  readonly items: readonly Item[];
  readonly total: number;
  readonly all: string;
  readonly cut: boolean;
}

type Commanding = (words: string) => string;

/** Groups tasks by status and readiness, by priority; completed ones newest first. */
export function taskLists(board: TaskBoard, command: Commanding) {
  const tasks = [...board.tasks.values()].sort(byPriority);
  const withStatus = (name: Task['status']) => tasks.filter(({ status }) => status === name);
  const completed = withStatus('completed').sort(byNewest);
  const list = (some: readonly Task[], status: string, waits = '', shown = some.length): PromptList => ({
    items: some.slice(0, shown).map((task) => taskItem(board, task, waits)),
    total: some.length,
    all: command(`task-list --status ${status}`),
    cut: some.slice(0, shown).some(({ content }) => isLong(content)),
  });
  const remaining = withStatus('remaining');
  const ready = remaining.filter((task) => isReady(board, task));
  const waiting = remaining.filter((task) => !isReady(board, task));
  return {
    ready: list(ready, 'remaining'),
    waiting: list(waiting, 'remaining', 'blocked by'),
    in_progress: list(withStatus('in_progress'), 'in_progress', 'blocked by'),
    blocked: list(withStatus('blocked'), 'blocked', 'depends on'),
    completed: list(completed, 'completed', '', SHOWN_COMPLETED),
  };
}

/** Groups the tasks of a plan as `taskLists` groups those of the board, in the order of the plan. */
export function planTaskLists(tasks: readonly ProgressTask[], results: TaskResults, all: string) {
  const work = outlookOf(tasks, results).planned.filter(({ isWork }) => isWork);
  const list = (some: readonly PlannedTask[]): PromptList => ({
    items: some.map(({ task, waitsFor }) => {
      const first = waitsFor.slice(0, SHOWN_DEPENDENCIES).join(', ');
      const waits = first === '' ? '' : ` (waits for ${first})`;
      const why = task.reason === undefined ? '' : ` (reason: ${line(task.reason)})`;
      return grown(quoted(task.text), (text) => `  - [${task.id}] ${text}${waits}${why}`);
    }),
    total: some.length,
    all,
    cut: some.some(({ task }) => isLong(task.text)),
  });
  const open = work.filter(({ isDone, isBlocked }) => !isDone && !isBlocked);
  const started = open.filter(({ task }) => task.status === 'in-progress');
  const pending = open.filter(({ task }) => task.status !== 'in-progress');
  return {
    ready: list(pending.filter(({ waitsFor }) => waitsFor.length === 0)),
    waiting: list(pending.filter(({ waitsFor }) => waitsFor.length > 0)),
    in_progress: list(started),
    blocked: list(work.filter(({ isDone, isBlocked }) => !isDone && isBlocked)),
    completed: list(work.filter(({ isDone }) => isDone)),
  };
}

/** `{{tasks}}`: by status, ready ones before waiting ones, with priority, id and dependencies. */
export function formatTasks(
  lists: Readonly<Record<'ready' | 'waiting' | 'in_progress' | 'blocked' | 'completed', PromptList>>,
  shown: Shown<IterationList>,
): string {
  const { ready, waiting } = lists;
  const remaining = {
    items: [...ready.items, ...waiting.items],
    total: ready.total + waiting.total,
    all: ready.all,
    cut: ready.cut || waiting.cut,
  };
  const groups = [
    group('REMAINING', remaining, [...shown.ready, ...shown.waiting]),
    group('IN_PROGRESS', lists.in_progress, shown.in_progress),
    group('BLOCKED', lists.blocked, shown.blocked),
    group('COMPLETED', lists.completed, shown.completed),
  ].filter((text) => text !== '');
  return groups.length === 0 ? 'No tasks yet' : groups.join('\n\n');
}

function group(title: string, list: PromptList, shown: readonly ShownItem[]): string {
  if (list.total === 0) return '';
  return [`${title}${restOf(list, shown)}:`, ...shown.map(({ text }) => text)].join('\n');
}

/** Notes what a list leaves out, with the command that shows it; empty for a complete list. */
function restOf(list: PromptList, shown: readonly ShownItem[]): string {
  const left = shown.length < list.total;
  const shortened = list.cut || shown.some(({ whole }) => !whole);
  if (!left && !shortened) return '';
  return ` (${shown.length} of ${list.total}${shortened ? ', long ones shortened' : ''}; all: \`${list.all}\`)`;
}

/** Returns the last five iterations with content, newest first, with ages if `now` is known. */
export function historyList(
  history: IterationHistory,
  board: TaskBoard,
  now: string | undefined,
  command: Commanding,
): PromptList {
  const iterations = history.iterations
    .filter(({ summary, tasks_worked }) => summary !== undefined || tasks_worked.length > 0)
    .reverse();
  const shown = iterations.slice(0, SHOWN_ITERATIONS);
  return {
    items: shown.map((iteration) => {
      const since = aged(iteration.ended_at ?? iteration.started_at, now);
      return grown(accomplished(iteration, board), (text) => `- #${iteration.number}${since}: ${text}`);
    }),
    total: iterations.length,
    all: command('iteration-list'),
    cut: shown.some(({ summary }) => summary !== undefined && isLong(summary)),
  };
}

/** `{{history}}` */
export function formatHistory(
  { iterations }: IterationHistory,
  list: PromptList,
  shown: readonly ShownItem[],
): string {
  if (list.total === 0) return iterations.length === 0 ? 'No iterations yet' : 'Nothing yet';
  const rest = restOf(list, shown);
  return [...shown.map(({ text }) => text), ...(rest === '' ? [] : [`-${rest}`])].join('\n');
}

export function noteList(all: readonly Note[], command: Commanding): PromptList {
  return {
    items: all.map(({ id, content }) => grown(quoted(content), (text) => `  - [${id}] ${text}`)),
    total: all.length,
    all: command('note-list'),
    cut: all.some(({ content }) => isLong(content)),
  };
}

/** `{{notes}}`: grouped by type; empty without any. */
export function formatNotes(all: readonly Note[], list: PromptList, shown: readonly ShownItem[]): string {
  if (list.total === 0) return '';
  const groups = NOTE_TYPES.flatMap((type) => {
    const lines = shown.filter(({ index }) => all[index]?.type === type).map(({ text }) => text);
    return lines.length === 0 ? [] : [[`${type.toUpperCase()}:`, ...lines].join('\n')];
  });
  return `## Notes${restOf(list, shown)}${groups.length === 0 ? '' : `\n${groups.join('\n\n')}`}`;
}

/** Returns unread messages, oldest first; a shortened one says so. */
export function inboxList(notebook: Notebook, now: string | undefined, command: Commanding): PromptList {
  const messages = unread(notebook).filter((message) => !isForPerson(message));
  const all = command('inbox-list');
  return {
    items: messages.map(({ id, by, content, created_at }) => {
      const text = quoted(content);
      const head = `- [${id}]${aged(created_at, now)}${leftBy(by)}${by === undefined ? '' : ':'}`;
      const write = (form: string) =>
        `${head} ${form}${form === text ? '' : ` (shortened; whole: \`${all}\`)`}`;
      return grown(text, write, MAX_MESSAGE, LONG_STEP);
    }),
    total: messages.length,
    all,
    cut: false,
  };
}

/** `{{inbox}}`: unread messages; empty without any. */
export function formatInbox({ total, all }: PromptList, shown: readonly ShownItem[]): string {
  if (total === 0) return '';
  const left = total - shown.length;
  const more = left === 0 ? [] : [`- ${counted(left, 'more message')}, not shown here: \`${all}\``];
  return ['## Inbox', ...shown.map(({ text }) => text), ...more].join('\n');
}

export function goalList(goal: string | undefined, all: string): PromptList {
  const text = quoted(goal ?? '');
  const items = text === '' ? [] : [grown(text, (some) => some, MAX_MESSAGE, LONG_STEP)];
  return { items, total: items.length, all, cut: lengthOf(text) > MAX_MESSAGE };
}

/** `{{goal}}`: empty without one. */
export function formatGoal({ total, all, cut }: PromptList, shown: readonly ShownItem[]): string {
  const [goal] = shown;
  if (total === 0) return '';
  const rest = goal?.whole && !cut ? [] : [`(shortened; whole: \`${all}\`)`];
  return ['Goal:', ...shown.map(({ text }) => text), ...rest].join(' ');
}

/** The lines of a specification, or the line with its path; `outline` has the indexes of headings. */
interface SpecList extends PromptList {
  readonly outline: ReadonlySet<number>;
}

export function specList({ spec, spec_path }: Pick<Charter, 'spec' | 'spec_path'>, all: string): SpecList {
  const { lines, total } = spec === undefined ? NO_LINES : quotedLines(spec, MAX_SPEC_LINES);
  const items =
    spec === undefined && spec_path !== undefined
      ? wholeItems([`See ${quoted(spec_path)}`])
      : lines.map((line) => grown(line, (text) => text, MAX_SPEC_LINE, LONG_STEP));
  const where = spec_path === undefined ? `\`${all}\`` : quoted(spec_path);
  const cut = total > lines.length || lines.some((line) => lengthOf(line) > MAX_SPEC_LINE);
  return { items, total: Math.max(items.length, total), all: where, cut, outline: headings(lines) };
}

const NO_LINES = { lines: [], total: 0 };

function headings(lines: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  let fenced = false;
  for (const [index, line] of lines.entries()) {
    if (/^> {1,4}(```|~~~)/.test(line)) fenced = !fenced;
    else if (!fenced && /^> {1,4}#{1,6} /.test(line)) found.add(index);
  }
  return found;
}

/** `{{spec}}`: the specification as a quoted block; a long one by its outline and its beginning. */
export function formatSpec({ items, total, all, cut, outline }: SpecList, shown: readonly ShownItem[]) {
  if (total === 0) return 'No spec given';
  if (!cut && !isShortened(items, shown)) return shown.map(({ text }) => text).join('\n');
  const lines: string[] = [];
  let before = -1;
  // A loop: thousands of lines are rendered for each size that is tried.
  for (const { index, text } of shown) {
    if (before >= 0 && index > before + 1 && !outline.has(before)) lines.push('> ...');
    lines.push(text);
    before = index;
  }
  return [`(shortened: ${shown.length} of ${counted(total, 'line')}; whole: ${all})`, ...lines].join('\n');
}

function taskItem(board: TaskBoard, task: Task, waits: string): Item {
  const open = waits === '' ? [] : unresolved(board, task);
  const some = open.slice(0, SHOWN_DEPENDENCIES).map(reason).join(', ');
  const more = open.length > SHOWN_DEPENDENCIES ? ` and ${open.length - SHOWN_DEPENDENCIES} more` : '';
  const waiting = open.length === 0 ? '' : ` (${waits}: ${some}${more})`;
  const { claimed_by: by } = claimOf(board, task.id);
  const claimed = task.status === 'in_progress' ? claimNote(by) : '';
  const result = task.result === undefined ? '' : ` (last result: ${task.result.outcome})`;
  const statedReason = task.status === 'blocked' || task.result !== undefined ? task.reason : undefined;
  const why = statedReason === undefined ? '' : ` (reason: ${line(statedReason)})`;
  const done = task.status === 'completed' && task.iteration > 0 ? ` [iteration #${task.iteration}]` : '';
  const head = `  - [P${task.priority}] [${task.id}]`;
  return grown(quoted(task.content), (text) => `${head} ${text}${waiting}${result}${why}${claimed}${done}`);
}

function reason({ id, why }: Unresolved): string {
  return why === 'missing' || why === 'cancelled' ? `${id}, ${why}` : id;
}

function byNewest(a: Task, b: Task): number {
  return a.updated_at === b.updated_at ? byPriority(b, a) : a.updated_at < b.updated_at ? 1 : -1;
}

function accomplished(iteration: Iteration, board: TaskBoard): string {
  if (iteration.summary !== undefined) return quoted(iteration.summary);
  const worked = iteration.tasks_worked.map((id) => ({ id, task: board.tasks.get(id) }));
  const title = ({ content }: Task) => `"${clipText(line(content), 80)}"`;
  const completed = worked.flatMap(({ task }) => {
    return task?.status === 'completed' && task.iteration === iteration.number ? [title(task)] : [];
  });
  if (completed.length > 0) return `Completed ${completed.join(', ')}`;
  return `Worked on ${worked.map(({ id, task }) => (task ? `${id} ${title(task)}` : id)).join(', ')}`;
}

function isLong(text: string): boolean {
  return lengthOf(quoted(text)) > MAX_LINE;
}

function grown(text: string, write: (text: string) => string, most = MAX_LINE, step = SHORT_STEP): Item {
  const whole = clipText(text, most);
  return {
    whole: write(whole),
    get forms() {
      return beginnings(whole, LEAST, step).map(write);
    },
  };
}

function aged(then: string, now: string | undefined): string {
  return now === undefined ? '' : ` (${age(then, now)})`;
}
