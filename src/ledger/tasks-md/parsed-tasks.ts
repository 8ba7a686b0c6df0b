export type PlanTaskStatus = 'pending' | 'in-progress' | 'completed';

export type StatusSource = 'box' | 'mark' | 'field' | 'table' | 'list' | 'contents' | 'children' | 'none';

/** Lists are empty, never missing. */
export interface ParsedTask {
  /**
   * Unique in the file. As written (`2.1`, `T001`, `T-22.1`), or the number of its ordered list item under its parent's
   * (`1.2`). A box without either is named by its ordinal under its parent (`1#3`) or its heading
   * (`success-metrics#2`), so that edits elsewhere do not change it. A second task with one id is `T001~2`.
   */
  readonly id: string;
  /** The author has not written this id. */
  readonly unnamed?: true;
  /** The task's line without marker, id and labels; Markdown stays. */
  readonly text: string;
  readonly status: PlanTaskStatus;
  readonly statusFrom: StatusSource;
  /** Only contains tasks, such as `## Phase 3 🚧`: its status derives from them, and to count it would count work twice. */
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
  readonly line: number;
  /**
   * The plan's own words about it: the dedented lines of its body, except tasks, comments, requirements, dependencies
   * and statuses; then its `_Prompt: …_` without underscores; then the words of the headings above it that are not tasks
   * and do not hold all tasks, such as the goal of its phase.
   */
  readonly prompt?: string;
  readonly requirements: readonly string[];
  /** Ids, possibly of missing tasks; text without an id stays as written (`all of the above`). */
  readonly dependsOn: readonly string[];
}

/** The problems of lines, and whether the line was read all the same: by a guess, or under a generated name. */
const PLACED = {
  /** An unknown box; read as pending. */
  unknown_marker: true,
  /** A dependency that is not a task of the file. */
  unknown_dependency: true,
  /** A later task with a known id; renamed `<id>~2`. */
  duplicate_id: true,
  /** Tasks without an id, named by ordinal; one report for all of them. */
  checkbox_without_id: true,
  /** Two different statuses for one task; the stronger source wins. */
  status_conflict: true,
  /** A heading of a task without any status; read as pending. */
  no_status: true,
  /** `_Prompt: …` without its closing underscore. */
  unclosed_field: true,
  /** An unknown word for a status. */
  unknown_mark: false,
  /** A line with a status that names no task. */
  mark_without_id: false,
  /** A line that begins with an id of no task. */
  id_without_status: false,
  /** Check boxes in a code fence, and marks in a table that names no task. */
  not_a_task: false,
  /** Tasks in a front matter. */
  other_format: false,
  no_tasks: false,
} as const;

export type TaskProblemCode = keyof typeof PLACED;

/** A line that could not be read, or was read by a guess. */
export interface TaskProblem {
  readonly code: TaskProblemCode;
  readonly line: number;
  readonly lastLine?: number;
  readonly tasks?: number;
  /** True if the line was read by a guess or under a generated name. */
  readonly placed: boolean;
  readonly message: string;
}

/** In document order. */
export interface ParsedTasks {
  readonly tasks: readonly ParsedTask[];
  /** The words for all tasks: those before the first heading over some of them, without legends, tables and headings. */
  readonly preamble?: string;
  readonly problems: readonly TaskProblem[];
}

export function problem(code: TaskProblemCode, line: number, message: string, to = line): TaskProblem {
  return { code, line: line + 1, ...(to > line && { lastLine: to + 1 }), placed: PLACED[code], message };
}

export function unnamedOf(tasks: readonly ParsedTask[]): ReadonlySet<string> {
  return new Set(tasks.flatMap(({ id, unnamed }) => (unnamed ? [id] : [])));
}
