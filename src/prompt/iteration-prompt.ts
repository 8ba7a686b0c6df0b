import type { IterationRequest } from '../contracts/compile-request.js';
import type { ProgressTask } from '../contracts/plan-requests.js';
import { NOTE_TYPES } from '../contracts/session-meta-events.js';
import { outlookOf, type PlannedTask, type TaskResults } from '../ledger/next-task.js';
import type { Note } from '../memory/facts/fact-types.js';
import type { Charter, Run } from '../memory/session/charter.js';
import {
  currentNumber,
  type Iteration,
  type IterationHistory,
  newest,
} from '../memory/session/iterations.js';
import { isForPerson, notesOf, unread } from '../memory/session/notebook.js';
import { ledgersOf, type Notebook } from '../memory/session/session-state.js';
import {
  byPriority,
  claimOf,
  isReady,
  type Task,
  type TaskBoard,
  taskCounts,
  type Unresolved,
  unresolved,
} from '../memory/session/task-board.js';
import { age, clipText, counted, lengthOf, quoted, quotedLines, recordOf } from '../shared/text.js';
import { claimNote, leftBy } from '../shared/wire-words.js';
import {
  allOf,
  beginnings,
  type Item,
  isShortened,
  line,
  MAX_LINE,
  type Shown,
  type ShownItem,
  type Stretch,
  textOf,
  upTo,
  wholeItems,
} from './fill-prompt.js';
import {
  checkTemplate,
  ITERATION_TEMPLATE,
  PLAN_TEMPLATE,
  placeholdersOf,
  renderTemplate,
  type Variable,
} from './iteration-template.js';
import type { CommonSection, CompiledAs, PromptDescriptor, PromptPart } from './prompt-kind.js';
import { NOTE_SECTIONS } from './session-notes.js';
import { goalOf, planProgress } from './task-text.js';

const USUAL = 8000;

const LISTED = ['goal', 'plan', 'inbox', 'spec', 'history', 'notes', 'tasks'] as const;

const TASK_LISTS = ['ready', 'waiting', 'in_progress', 'blocked', 'completed'] as const;
type TaskList = (typeof TASK_LISTS)[number];

type Section = 'plan' | IterationList | CommonSection;

/** Goal and demands, candidate tasks, then the best of each kind of memory. */
const BEST: readonly Stretch<Section>[] = [
  ...allOf<Section>('goal', 'plan'),
  ...upTo<Section>({ findings: 3, requirements: 2, in_progress: 5, ready: 5, inbox: 3, history: 1 }),
  ...upTo<Section>({ files: 5, decisions: 3, failed: 2 }),
  { section: 'notes', most: 5, backwards: true },
  ...upTo<Section>({ work: 2, tests: 2, learnings: 1 }),
  { section: 'compacted' },
];

const REST: readonly Stretch<Section>[] = [
  ...upTo<Section>({ ready: 20, in_progress: 20, inbox: 5 }),
  ...allOf<Section>('history', 'findings', 'decisions', 'failed', 'learnings', 'tests', 'work', 'files'),
  ...allOf<Section>('perhaps', 'requirements', 'facts'),
  { section: 'notes', most: 20, backwards: true },
  ...upTo<Section>({ blocked: 5, waiting: 5, completed: 3 }),
  { section: 'recent', backwards: true },
  { section: 'inbox', most: 10 },
  ...allOf<Section>('spec', 'in_progress'),
  { section: 'ready', most: 100 },
  ...allOf<Section>('inbox', 'ready', 'waiting', 'blocked', 'completed'),
  { section: 'notes', backwards: true },
];

/** A shorter spec precedes the rest of the memory; of a longer one only these lines do. */
const SHORT_SPEC = 4000;
const OUTLINE_LINES = 60;
const FIRST_LINES = 10;

/** An iteration prompt: the template with its lists filled by importance. Has ages only if the request has the time. */
export const ITERATION: PromptDescriptor<IterationRequest, Section, Pick<CompiledAs<'iteration'>, 'kind'>> = {
  asks: ({ budget, taskId = '', activeIntentId }) => ({
    name: 'the iteration prompt',
    room: budget?.inputTokens ?? USUAL,
    taskId,
    intent: activeIntentId,
  }),
  draft({ state, request, common, command }) {
    const { board, notebook, history, charter, session, run } = state;
    const isPlanned = run !== undefined && board.tasks.size === 0;
    const template = request.template ?? (isPlanned ? PLAN_TEMPLATE : ITERATION_TEMPLATE);
    checkTemplate(template);
    const used = placeholdersOf(template);
    const { binary, now } = request;
    const tasks = isPlanned
      ? planTaskLists(run.document.tasks, ledgersOf(state), `${binary} status ${session} --plan`)
      : taskLists(board, command);
    const whole = `${binary} status ${session} --json`;
    const goal = goalList(goalOf(state), whole);
    const spec = specList(specOf(charter, run), whole);
    const past = historyList(history, board, now, command);
    const inbox = inboxList(notebook, now, command);
    const ownNotes = [...notesOf(state).values()];
    const noted = noteList(ownNotes, command);
    const plan = planProgress(state, request.degraded);
    const counts = taskCounts(state).board;
    const steps = workflowSteps(isPlanned, charter.spec ?? charter.spec_path, command);
    const valuesOf = (shown: Shown<Section>, context: PromptPart, learned: PromptPart) => {
      const goalText = formatGoal(goal, shown.goal);
      return {
        session,
        iteration: String(currentNumber(history)),
        begin: isRunning(history) ? '' : `0. **Begin the iteration** - \`${command('iteration-start')}\``,
        goal: goalText,
        plan: textOf(shown.plan),
        ...steps,
        ready_count: String(counts.ready),
        blocked_count: String(counts.waiting),
        completed_count: String(counts.completed),
        history: formatHistory(history, past, shown.history),
        spec:
          spec.total === 0 && !used.has('goal') && goalText !== ''
            ? goalText.replace(/^Goal: /, '')
            : formatSpec(spec, shown.spec),
        inbox: formatInbox(inbox, shown.inbox),
        notes: formatNotes(ownNotes, noted, shown.notes),
        tasks: formatTasks(tasks, shown),
        binary,
        extra: request.extra ?? '',
        sessionContext: context.text,
        learnings: learned.text,
      } satisfies Record<Variable, string>;
    };
    const items = <Shape>(variable: Variable, some: readonly Shape[]) => (used.has(variable) ? some : []);
    const sections = {
      plan: items('plan', wholeItems(plan === '' ? [] : [plan])),
      goal: used.has('goal') || spec.total === 0 ? goal.items : [],
      spec: items('spec', spec.items),
      history: items('history', past.items),
      inbox: items('inbox', inbox.items),
      notes: items('notes', noted.items),
      ...recordOf(TASK_LISTS, (name) => items('tasks', tasks[name].items)),
      ...recordOf(NOTE_SECTIONS, (name) => items('sessionContext', common[name])),
      learnings: items('learnings', common.learnings),
    };
    return {
      sections,
      order: [...BEST, ...specFirst(charter, spec.outline), ...REST],
      // Lists that show only the newest count all.
      totals: {
        ...(used.has('tasks') && { completed: tasks.completed.total }),
        ...(used.has('history') && { history: past.total }),
      },
      lists: [{ name: 'the plan', sections: ['plan'], command: `${binary} status ${session} --plan` }],
      parts: (shown, { compacted, learnings, notes, recent, leftOut }) => {
        const values = valuesOf(shown, notes, learnings);
        return [
          compacted,
          {
            section: 'template',
            text: renderTemplate(template, values),
            inner: [
              ...LISTED.filter((name) => used.has(name)).map((name) => ({
                section: name,
                text: values[name],
              })),
              ...items('sessionContext', [notes]),
              ...items('learnings', [learnings]),
            ],
          },
          ...[recent, leftOut],
        ];
      },
      replyFields: () => ({ kind: 'iteration' }),
    };
  },
};

/** Returns the session's own specification, else what its plan says before the first task, with the design's path. */
function specOf(charter: Charter, run: Run | undefined): Pick<Charter, 'spec' | 'spec_path'> {
  const { preamble, design } = run?.document ?? {};
  if (charter.spec !== undefined || charter.spec_path !== undefined) return charter;
  if (preamble === undefined) return design === undefined ? {} : { spec_path: design };
  return { spec: design === undefined ? preamble : `${preamble}\nDesign: ${design}` };
}

/** Returns the steps that choose and finish a task: a plan's task is claimed and ticked in the plan. */
function workflowSteps(isPlanned: boolean, spec: string | undefined, command: (words: string) => string) {
  if (isPlanned)
    return {
      pick: '**Pick ONE ready task of the plan above** - the one that the plan names as next, unless you were given another one',
      finish: '**Tick its line in the plan** - only when the work is complete and tested',
    };
  const add = spec === undefined ? '' : ', after adding any missing spec tasks via task-add';
  return {
    pick: `**Pick ONE ready task** - \`${command('task-next --claim AGENT')}\` takes the most urgent one and marks it in_progress${add}. With none ready or in progress, go to step 5: the summary says what blocks`,
    finish: `**Mark completed** - \`${command('task-status --id TASK_ID --status completed')}\``,
  };
}

/** Returns the part of a spec that comes first: a short one whole, else its outline, else its beginning. */
function specFirst({ spec = '' }: Charter, outline: ReadonlySet<number>): Stretch<Section>[] {
  if (spec.length <= SHORT_SPEC) return [{ section: 'spec' }];
  if (outline.size === 0) return [{ section: 'spec', most: FIRST_LINES }];
  return [{ section: 'spec', only: outline, most: OUTLINE_LINES }];
}

/** True if an iteration was started and not summarized; else the agent starts one. */
function isRunning(history: IterationHistory): boolean {
  const last = newest(history);
  return last !== undefined && last.ended_at === undefined && last.summary === undefined;
}

/** The lists of an iteration prompt. Items are quoted and capped; a shortened list names the command for the rest. */
type IterationList = 'goal' | 'spec' | 'history' | 'inbox' | 'notes' | TaskList;

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
function taskLists(board: TaskBoard, command: Commanding) {
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
function planTaskLists(tasks: readonly ProgressTask[], results: TaskResults, all: string) {
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
function formatTasks(lists: Readonly<Record<TaskList, PromptList>>, shown: Shown<IterationList>): string {
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
function historyList(
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

function formatHistory(
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
function formatNotes(all: readonly Note[], list: PromptList, shown: readonly ShownItem[]): string {
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
function formatInbox({ total, all }: PromptList, shown: readonly ShownItem[]): string {
  if (total === 0) return '';
  const left = total - shown.length;
  const more = left === 0 ? [] : [`- ${counted(left, 'more message')}, not shown here: \`${all}\``];
  return ['## Inbox', ...shown.map(({ text }) => text), ...more].join('\n');
}

function goalList(goal: string | undefined, all: string): PromptList {
  const text = quoted(goal ?? '');
  const items = text === '' ? [] : [grown(text, (some) => some, MAX_MESSAGE, LONG_STEP)];
  return { items, total: items.length, all, cut: lengthOf(text) > MAX_MESSAGE };
}

/** `{{goal}}`: empty without one. */
function formatGoal({ total, all, cut }: PromptList, shown: readonly ShownItem[]): string {
  const [goal] = shown;
  if (total === 0) return '';
  const rest = goal?.whole && !cut ? [] : [`(shortened; whole: \`${all}\`)`];
  return ['Goal:', ...shown.map(({ text }) => text), ...rest].join(' ');
}

/** The lines of a specification, or the line with its path; `outline` has the indexes of headings. */
interface SpecList extends PromptList {
  readonly outline: ReadonlySet<number>;
}

function specList({ spec, spec_path }: Pick<Charter, 'spec' | 'spec_path'>, all: string): SpecList {
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
function formatSpec({ items, total, all, cut, outline }: SpecList, shown: readonly ShownItem[]) {
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
  const head = `  - [P${task.priority}] [${task.id}]${leftBy(task.by)}${task.by === undefined ? '' : ':'}`;
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
