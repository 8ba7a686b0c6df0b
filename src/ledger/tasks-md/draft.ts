import { dependsInText, type Field, isNothing, splitDependencies, splitList } from './fields.js';
import type { Head } from './head.js';
import { BLOCKED, type Legend, type Mark, readStatus } from './marks.js';
import type { TaskOrigin, TaskProblem, TaskProblemCode } from './parsed-tasks.js';

/** A heading, and the task that it may declare. */
export interface Heading {
  readonly line: number;
  readonly level: number;
  readonly text: string;
  readonly isLegend: boolean;
  readonly outer?: Heading;
  /** The status of the tasks below it: `## ✅ Done`. */
  readonly says?: Mark;
  /** Has a mark besides the word. */
  readonly isMarked: boolean;
  /** Consists of a status word, so it is not a task. */
  readonly isStatus: boolean;
  /** Set if it has an id, a box or a mark; `settle` decides whether it is a task. */
  readonly draft?: Draft;
}

/** Sources of a status besides the task's own line. */
type StatedIn = 'box' | 'field' | 'table' | 'list' | 'overview' | 'section';

/** A candidate task before ids, parents and statuses are settled. Lines are 0-based. */
export interface Draft {
  readonly line: number;
  readonly origin: TaskOrigin;
  readonly head: Head;
  /** Number of its ordered list item. */
  readonly ordinal?: number | undefined;
  /** The task that contains it by nesting. */
  owner?: Draft | undefined;
  /** The nearest heading above; for a heading's task, the heading around it. */
  readonly under?: Heading | undefined;
  /** Statuses from other lines: the box below a heading, a `Status:` line, a table, a list. */
  readonly statuses: { from: StatedIn; line: number; mark: Mark }[];
  /** Problems to report if it turns out to be no task. */
  readonly otherwise: TaskProblem[];
  readonly requirements: string[];
  readonly dependsOn: string[];
  /** Descriptive lines of its body, as written. */
  readonly details: string[];
  prompt?: string | undefined;
  /** Why it is blocked. */
  reason?: string;
}

/** A line outside of any task that names one. */
export interface Mention {
  readonly line: number;
  readonly from: 'table' | 'list';
  readonly draft: Draft;
  /** Undefined for a mere reference. */
  readonly mark?: Mark;
}

/** The output of `scan`. */
export interface Findings {
  readonly drafts: Draft[];
  readonly headings: Heading[];
  readonly mentions: Mention[];
  /** Numbered items without a status below `## Plan`: tasks if the file has no others, or if they are `01-02: …`. */
  readonly planned: Draft[];
  readonly problems: TaskProblem[];
}

export function newDraft(
  line: number,
  origin: TaskOrigin,
  head: Head,
  place: { ordinal?: number | undefined; owner?: Draft | undefined; under?: Heading | undefined },
): Draft {
  return {
    line,
    origin,
    head,
    ordinal: place.ordinal,
    owner: place.owner,
    under: place.under,
    statuses: [],
    otherwise: [],
    requirements: [],
    dependsOn: dependsInText(head.text),
    details: [],
    prompt: undefined,
  };
}

/** Returns false for an unknown status. */
export function applyField(draft: Draft, { key, value }: Field, line: number, legend: Legend): boolean {
  switch (key) {
    case 'prompt':
      draft.prompt = draft.prompt === undefined ? value : `${draft.prompt}\n\n${value}`;
      return true;
    case 'requirements':
      // Kiro writes `Validates: Requirements 1.2`.
      addAll(draft.requirements, splitList(value.replace(/^Requirements?\s+/i, '')));
      return true;
    case 'dependsOn':
      addAll(draft.dependsOn, splitDependencies(value));
      return true;
    case 'told':
      return true;
    case 'blocked':
      if (isNothing(value)) return true;
      draft.reason = value;
      draft.statuses.push({ from: 'field', line, mark: BLOCKED });
      return true;
    case 'status': {
      const mark = readStatus(value, legend);
      if (mark === undefined) return false;
      draft.statuses.push({ from: 'field', line, mark });
      return true;
    }
  }
}

/** Appends in a loop: spreading a hostile line's values into `push` would overflow the stack. */
export function addAll<T>(list: T[], values: Iterable<T>): void {
  for (const each of values) list.push(each);
}

/** Makes a problem from 0-based lines. */
export function problem(code: TaskProblemCode, line: number, message: string, to = line): TaskProblem {
  return {
    code,
    line: line + 1,
    ...(to > line && { lastLine: to + 1 }),
    placed: !UNPLACED.has(code),
    message,
  };
}

const UNPLACED: ReadonlySet<TaskProblemCode> = new Set([
  'mark_without_id',
  'id_without_status',
  'not_a_task',
  'unknown_mark',
  'broken_document',
  'no_tasks',
]);

/** A task of a document made of tasks: JSON, a front matter, `task_001.txt`. Lines are 0-based. */
export interface PlanEntry {
  readonly id?: string | undefined;
  readonly text: string;
  /** The status word as written. */
  readonly status?: string | undefined;
  readonly statusLine?: number;
  readonly dependsOn?: readonly string[];
  readonly requirements?: readonly string[];
  readonly prompt?: string | undefined;
  readonly line: number;
  readonly under?: Heading | undefined;
  readonly owner?: Draft | undefined;
}

const NO_LEGEND: Legend = new Map();
const UNEVEN = /[^\S ]|\s\s/;
const OPTIONAL = /[([]optional[)\]]/i;

/** Makes a draft of an entry and reports an unknown status. */
export function draftOfEntry(entry: PlanEntry, problems: TaskProblem[]): Draft {
  const { id, line, owner, under } = entry;
  const text = UNEVEN.test(entry.text) ? entry.text.replace(/\s+/g, ' ').trim() : entry.text.trim();
  const head: Head = {
    id: id === '' ? undefined : id,
    leads: false,
    certain: true,
    phase: false,
    text,
    optional: OPTIONAL.test(text),
    struck: false,
  };
  const draft = newDraft(line, 'entry', head, { owner, under });
  addAll(draft.dependsOn, entry.dependsOn ?? []);
  addAll(draft.requirements, entry.requirements ?? []);
  if (entry.prompt !== undefined && entry.prompt.trim() !== '') draft.prompt = entry.prompt.trim();
  if (entry.status === undefined || entry.status.trim() === '') return draft;
  const mark = readStatus(entry.status, NO_LEGEND);
  const at = entry.statusLine ?? line;
  draft.statuses.push({ from: 'field', line: at, mark: mark ?? { status: 'pending' } });
  if (mark === undefined) {
    const message = `"${entry.status.slice(0, 40)}" is not a known status; read as pending`;
    problems.push(problem('unknown_marker', at, message));
  }
  return draft;
}

export function partOf(text: string, line: number): Heading {
  return { line, level: 2, text, isLegend: false, isMarked: false, isStatus: false };
}
