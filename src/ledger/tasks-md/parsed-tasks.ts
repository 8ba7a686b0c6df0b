import { closes, readField } from './fields.js';

export type PlanTaskStatus = 'pending' | 'in-progress' | 'completed';

/**
 * The declaration of a task: a checkbox, a heading, a table row, a list item with a status mark, or an entry of a
 * document made of tasks (`tasks.json`, `task_001.txt`, todos in a front matter).
 */
export type TaskOrigin = 'checkbox' | 'heading' | 'table' | 'list' | 'entry';

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

/** Lists are empty, never missing. */
export interface ParsedTask {
  /**
   * Unique in the file. As written (`2.1`, `T001`, `T-22.1`), or the number of its ordered list item under its parent's
   * (`1.2`). A box without either is named by its ordinal under its parent (`1#3`) or its heading
   * (`success-metrics#2`), so that edits elsewhere do not change it. A second task with one id is `T001~2`.
   */
  readonly id: string;
  /** The task's line without marker, id and labels; Markdown stays. */
  readonly text: string;
  readonly status: PlanTaskStatus;
  readonly statusFrom: StatusSource;
  /**
   * Only contains tasks: its status derives from them, or it is a heading such as `## Phase 3 🚧` over tasks. Counting
   * it would count work twice.
   */
  readonly group: boolean;
  /** `- [ ]* 2.2`, or `(optional)` at either end of the text. */
  readonly optional: boolean;
  /** Marked `[!]`, 🚫 or `Blocked`; the status is `pending`. */
  readonly blocked: boolean;
  /** Why it is blocked: `_Blocked: waits for the vendor_`. */
  readonly reason?: string;
  /** `~~struck~~`, `Cancelled`, or `[-]` if a legend says so: `pending`, and not in totals. */
  readonly cancelled: boolean;
  readonly parent?: string;
  /** 1-based. */
  readonly line: number;
  /**
   * The plan's own words about it: the dedented lines of its body, except tasks, comments, requirements, dependencies
   * and statuses; then its `_Prompt: …_` without underscores.
   */
  readonly prompt?: string;
  readonly requirements: readonly string[];
  /** Ids, possibly of missing tasks; text without an id stays as written (`all of the above`). */
  readonly dependsOn: readonly string[];
}

/**
 * - `unknown_marker`: an unknown box or status cell; read as pending.
 * - `unknown_mark`: an unknown status of an unknown task; NOT read.
 * - `unknown_dependency`: a dependency that is not a task of the file.
 * - `duplicate_id`: a later task with a known id; renamed `<id>~2`.
 * - `checkbox_without_id`: tasks without an id, named by ordinal or text; one report for all of them.
 * - `status_contradicts_children`: completed with open children, or pending with completed ones.
 * - `status_conflict`: two different statuses for one task; the stronger source wins.
 * - `no_status`: a task without any status; read as pending.
 * - `mark_without_id`: a line with a status but neither box nor id; NOT a task.
 * - `id_without_status`: a line that begins with an id of no task; NOT a task.
 * - `not_a_task`: checkboxes in a code fence, a legend or a foreign table; NOT tasks.
 * - `indented_as_code`: code to Markdown because of its indentation; still read as a task.
 * - `unclosed_field`: `_Prompt: …` without its closing underscore.
 * - `misdecoded_text`: UTF-8 in a wrong encoding; repaired if certain.
 * - `broken_document`: unreadable JSON or YAML; NOT read.
 * - `no_tasks`: the file has no tasks.
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
  | 'indented_as_code'
  | 'unclosed_field'
  | 'misdecoded_text'
  | 'no_tasks';

/** A line that could not be read, or was read by a guess. */
export interface TaskProblem {
  readonly code: TaskProblemCode;
  /** 1-based. */
  readonly line: number;
  /** The last line, if there are several. */
  readonly lastLine?: number;
  /** Number of tasks, if it covers several. */
  readonly tasks?: number;
  /** True if the line was read by a guess or under a generated name. */
  readonly placed: boolean;
  readonly message: string;
}

/** In document order. */
export interface ParsedTasks {
  readonly tasks: readonly ParsedTask[];
  /** The text before the first task: goal, overview, conventions. Without legends, tables and bare headings. */
  readonly preamble?: string;
  readonly problems: readonly TaskProblem[];
}

/** A field that may span lines: its value, the line after its last, and whether its end was found. */
export interface Span {
  readonly value: string;
  readonly end: number;
  readonly closed: boolean;
}

const SPAN_FIELD = /^\s*(?:[-*+]\s+)?_[\p{L}][\p{L} ]{1,23}[:：]/u;
const BLOCK_SCALAR = /^[|>][+-]?$/;

/**
 * Follows an open `_Prompt: …` to the last closing underscore before `end`, the next field, or a `stop` line. Dedents;
 * a lone `|`, as in YAML, is not text.
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
    // Any opening span ends this one: otherwise each unclosed span would be read to the end.
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

/** Joins the first line of a field without closing underscore with the lines up to `end`. */
export function join(first: string, body: readonly string[]): string {
  const opening = BLOCK_SCALAR.test(first.trim()) ? [] : [first.trim()];
  return [...opening, ...dedent(body)].join('\n').trim();
}

export function dedent(lines: readonly string[]): string[] {
  let common = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const { length } = line.trimStart();
    if (length > 0) common = Math.min(common, line.length - length);
  }
  return lines.map((line) => line.slice(Math.min(common, line.length)).trimEnd());
}
