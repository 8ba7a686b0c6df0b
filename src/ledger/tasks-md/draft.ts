import {
  dependsInText,
  type Field,
  splitDependencies,
  splitFiles,
  splitList,
  takeInlineFields,
} from './fields.js';
import type { Head } from './head.js';
import { type Legend, type Mark, readStatus } from './marks.js';
import type { TaskOrigin, TaskProblem, TaskProblemCode } from './parsed-tasks.js';

/** A heading of the document, and the task that it may be. */
export interface Heading {
  readonly line: number;
  readonly level: number;
  readonly text: string;
  readonly isLegend: boolean;
  readonly outer?: Heading;
  /** The line after its section. */
  end: number;
  /** `## ✅ Done`: what it says of the tasks below it. */
  readonly says?: Mark;
  /** It bears a mark beside the word. */
  readonly isMarked: boolean;
  /** Its text is the word for a status and no more: it names no task. */
  readonly isStatus: boolean;
  /** Present when it bears an id, a box or a mark. Whether it is a task is settled at the end. */
  readonly draft?: Draft;
}

/** Where a status of a task is written, beside the task's own line. */
export type StatedIn = 'box' | 'field' | 'table' | 'list' | 'overview' | 'section';

/** A task as the scan found it, before ids, parents and statuses are settled. Lines are 0-based. */
export interface Draft {
  readonly line: number;
  /** The line after its body. */
  end: number;
  readonly origin: TaskOrigin;
  readonly head: Head;
  /** Number of the ordered list item that holds it. */
  readonly ordinal?: number | undefined;
  /** The task whose body holds it, by nesting. */
  owner?: Draft | undefined;
  /** The nearest heading above; for a heading's own task the heading around it. */
  readonly under?: Heading | undefined;
  /** What other lines say: the box below a heading, a `Status:` line, a table, a list. */
  readonly statuses: { from: StatedIn; line: number; mark: Mark }[];
  /** To be reported when it turns out to be no task: marks that were taken for part of it. */
  readonly otherwise: TaskProblem[];
  /** Lines elsewhere that name it and say nothing more. */
  readonly alsoAt: number[];
  readonly requirements: string[];
  readonly files: string[];
  readonly leverage: string[];
  readonly dependsOn: string[];
  /** Lines of its body that describe it: what agents are told where there is no prompt. */
  readonly details: string[];
  prompt?: string | undefined;
}

/** A line outside of any task that names one: with a status it gives it, without it must find it. */
export interface Mention {
  readonly line: number;
  readonly from: 'table' | 'list';
  readonly draft: Draft;
  /** Undefined for a bare reference. */
  readonly mark?: Mark;
}

/** What the scan hands to `settle`. */
export interface Findings {
  readonly drafts: Draft[];
  readonly headings: Heading[];
  readonly mentions: Mention[];
  /** Numbered items without mark or box under `## Plan`: tasks of a file that has no others, or `01-02: …`. */
  readonly planned: Draft[];
  readonly problems: TaskProblem[];
}

/** A new draft; fields in its own line are taken out of the text. */
export function newDraft(
  line: number,
  origin: TaskOrigin,
  written: Head,
  place: { ordinal?: number | undefined; owner?: Draft | undefined; under?: Heading | undefined },
  legend: Legend,
): Draft {
  const { text, fields } = takeInlineFields(written.text);
  const draft: Draft = {
    line,
    end: line + 1,
    origin,
    head: text === written.text ? written : { ...written, text },
    ordinal: place.ordinal,
    owner: place.owner,
    under: place.under,
    statuses: [],
    alsoAt: [],
    otherwise: [],
    requirements: [],
    files: [],
    leverage: [],
    dependsOn: dependsInText(text),
    details: [],
    prompt: undefined,
  };
  for (const field of fields) applyField(draft, field, line, legend);
  return draft;
}

/** Adds what a field says. Returns false for a status that could not be read. */
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
    case 'files':
      addAll(draft.files, splitFiles(value));
      return true;
    case 'leverage':
      addAll(draft.leverage, splitList(value));
      return true;
    case 'status': {
      const mark = readStatus(value, legend);
      if (mark === undefined) return false;
      draft.statuses.push({ from: 'field', line, mark });
      return true;
    }
  }
}

/** Adds values to a list. Spread into the arguments of `push`, as many as a hostile line holds would overflow the stack. */
export function addAll<T>(list: T[], values: Iterable<T>): void {
  for (const each of values) list.push(each);
}

/** A problem at a 0-based line, or from it to another one. */
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
  'unclosed_fence',
  'unknown_mark',
  'broken_document',
  'no_tasks',
]);
