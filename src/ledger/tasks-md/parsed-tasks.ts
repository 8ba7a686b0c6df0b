import { closes, readField } from './fields.js';

/** The status words of the progress ledger. */
export type PlanTaskStatus = 'pending' | 'in-progress' | 'completed';

/**
 * What declared the task: a checkbox, a heading, a row of a table, a list item with a status mark, or an entry of a
 * document that is made of them (`tasks.json`, `task_001.txt`, the todos of a front matter).
 */
export type TaskOrigin = 'checkbox' | 'heading' | 'table' | 'list' | 'entry';

/**
 * Where the status was read, strongest first: the task's own box or mark, its `Status:` line, a row of a table or an
 * item of a list that names its id, an overview, its children, the heading `## ✅ Done` above it; `none` means that the file says nothing and `pending` was assumed.
 */
export type StatusSource =
  | 'box'
  | 'mark'
  | 'field'
  | 'table'
  | 'list'
  | 'overview'
  | 'children'
  | 'section'
  | 'none';

/**
 * What a line of the file is: a task, part of one, prose that speaks of none (blank lines too), or one that a problem
 * with `placed: false` reports.
 */
export type LineRole = 'task' | 'part' | 'prose' | 'problem';

/** One task of the file. Lists are empty, never missing. */
export interface ParsedTask {
  /**
   * Unique in the file. As written (`2.1`, `T001`, `T-22.1`), or the number of the ordered list item that holds the
   * box, under its parent's (`1.2`). A box without any is named by its ordinal under its parent task (`1#3`) or else
   * under its heading (`success-metrics#2`), so that edits elsewhere leave it alone. The second task with one id is
   * `T001~2`.
   */
  readonly id: string;
  /** False when the id was made up: from an ordinal (`1#3`), or to tell duplicates apart (`T001~2`). */
  readonly idAsWritten: boolean;
  /** The task's own line, without marker, id, labels and inline fields; Markdown inside is left as it is. */
  readonly text: string;
  readonly status: PlanTaskStatus;
  readonly statusFrom: StatusSource;
  readonly origin: TaskOrigin;
  /**
   * Its children are the work, and it only holds them: a task whose status comes from its children, or a heading such
   * as `## Phase 3 🚧` over tasks. Leave it out when you count work, or the work counts twice.
   */
  readonly group: boolean;
  /** `- [ ]* 2.2`, or `(optional)` at either end of the text. */
  readonly optional: boolean;
  /** `[P]` or `(P)`. */
  readonly parallel: boolean;
  /** Marked as waiting on something (`[!]`, 🚫, `Blocked`); the status is `pending`. */
  readonly blocked: boolean;
  /** Given up (`~~struck~~`, `Cancelled`, `[-]` where a legend says so): `pending`, and to be left out of totals. */
  readonly cancelled: boolean;
  readonly parent?: string;
  /** Number of ancestors. */
  readonly depth: number;
  /** 1-based. */
  readonly line: number;
  /** Text of the nearest heading above which is not the task itself. */
  readonly section?: string;
  /** Other bracketed markers beside the id or at the end, such as `US1` or `T`. */
  readonly labels: readonly string[];
  /**
   * The `_Prompt: …_`, its lines dedented, without the underscores. Without one the lines of its body, each trimmed, but not
   * tasks, comments, requirements, dependencies or a status.
   */
  readonly prompt?: string;
  readonly requirements: readonly string[];
  /** From `File:` lines only; a path named in the text is not guessed. */
  readonly files: readonly string[];
  readonly leverage: readonly string[];
  /** Ids, also of tasks that do not exist; what names no id is as written (`all of the above`). */
  readonly dependsOn: readonly string[];
}

/**
 * - `unknown_marker`: a box or status cell that says nothing we know; the task is read as pending.
 * - `unknown_mark`: a status of which we know neither what it says nor what it is about; NOT read.
 * - `unknown_dependency`: a task depends on what is not a task of the file.
 * - `duplicate_id`: a later task with a known id; renamed `<id>~2`.
 * - `checkbox_without_id`: tasks without an id, named by ordinal or text; one report for all of them.
 * - `status_contradicts_children`: completed over open children, or pending over completed ones.
 * - `status_conflict`: two places give one task different statuses; the stronger source was taken.
 * - `no_status`: a task about which the file says nothing; read as pending.
 * - `mark_without_id`: a line with a status but neither box nor id; NOT a task.
 * - `id_without_status`: a line which opens with a task id that no task has; NOT a task.
 * - `not_a_task`: checkboxes in a code fence, a comment, a legend or a foreign table; NOT tasks.
 * - `unclosed_fence`: a code fence that runs to the end of the file and hides checkboxes.
 * - `indented_as_code`: so deep that Markdown takes it for code; read as a task nevertheless.
 * - `unclosed_field`: `_Prompt: …` without its closing underscore.
 * - `misdecoded_text`: UTF-8 that was read in another encoding; repaired where that is certain.
 * - `broken_document`: JSON or YAML that cannot be read; NOT read.
 * - `no_tasks`: the whole file has none.
 */
export type TaskProblemCode =
  | 'unknown_marker'
  | 'unknown_mark'
  | 'unknown_dependency'
  | 'broken_document'
  | 'duplicate_id'
  | 'checkbox_without_id'
  | 'status_contradicts_children'
  | 'status_conflict'
  | 'no_status'
  | 'mark_without_id'
  | 'id_without_status'
  | 'not_a_task'
  | 'unclosed_fence'
  | 'indented_as_code'
  | 'unclosed_field'
  | 'misdecoded_text'
  | 'no_tasks';

/** What could not be placed, or was placed by a guess. */
export interface TaskProblem {
  readonly code: TaskProblemCode;
  /** 1-based. */
  readonly line: number;
  /** The last line that it is about, when there are several. */
  readonly lastLine?: number;
  /** How many tasks it is about, where it is about tasks on several lines. */
  readonly tasks?: number;
  /** True when the line was read all the same, by a guess or under a name that was made up; false when it was not. */
  readonly placed: boolean;
  readonly message: string;
}

/** Tasks and problems are in document order. */
export interface ParsedTasks {
  readonly tasks: readonly ParsedTask[];
  readonly problems: readonly TaskProblem[];
  /** What each line of the text is: as many entries as the text has lines. */
  readonly lines: readonly LineRole[];
}

/** A field that may go on over lines: its value, the line after its last, and whether its end was found. */
export interface Span {
  readonly value: string;
  readonly end: number;
  readonly closed: boolean;
}

const SPAN_FIELD = /^\s*(?:[-*+]\s+)?_[\p{L}][\p{L} ]{1,23}[:：]/u;
const BLOCK_SCALAR = /^[|>][+-]?$/;

/**
 * Follows an open `_Prompt: …` to the last closing underscore before `end`, before the next field, and before
 * `stop` says so. Lines are dedented; a lone `|`, as in YAML, does not count as text.
 */
export function followSpan(
  lines: readonly string[],
  from: number,
  end: number,
  first: string,
  stop: (line: string) => boolean,
): Span {
  let limit = from + 1;
  let last = -1;
  for (; limit < end; limit += 1) {
    const line = lines[limit] ?? '';
    const field = readField(line);
    // Whatever opens a span ends this one: spans that nothing closes would else be read to the end, each of them.
    if (field !== undefined && (field.state !== 'plain' || SPAN_FIELD.test(line))) break;
    if (stop(line)) break;
    if (closes(line)) last = limit;
  }
  const closed = last !== -1;
  const stopAt = closed ? last + 1 : limit;
  const body = lines.slice(from + 1, stopAt);
  if (closed) body.push((body.pop() ?? '').trimEnd().slice(0, -1));
  return { value: join(first, body), end: stopAt, closed };
}

/** The value of a field that is not closed by an underscore: its first line and those up to `end`. */
export function join(first: string, body: readonly string[]): string {
  const opening = BLOCK_SCALAR.test(first.trim()) ? [] : [first.trim()];
  return [...opening, ...dedent(body)].join('\n').trim();
}

function dedent(lines: readonly string[]): string[] {
  let common = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const { length } = line.trimStart();
    if (length > 0) common = Math.min(common, line.length - length);
  }
  return lines.map((line) => line.slice(Math.min(common, line.length)).trimEnd());
}
