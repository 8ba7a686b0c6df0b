import { addAll, type Draft, type Heading, newDraft, problem } from './draft.js';
import type { Head } from './head.js';
import { type Legend, readStatus } from './marks.js';
import type { TaskProblem } from './parsed-tasks.js';

/** A task of a document that is made of them: of JSON, of a front matter, of `task_001.txt`. Lines are 0-based. */
export interface PlanEntry {
  readonly id?: string | undefined;
  readonly text: string;
  /** The word for its status as written. */
  readonly status?: string | undefined;
  readonly statusLine?: number;
  readonly dependsOn?: readonly string[];
  readonly requirements?: readonly string[];
  readonly files?: readonly string[];
  readonly prompt?: string | undefined;
  readonly line: number;
  /** The line after its last. */
  readonly end: number;
  readonly under?: Heading | undefined;
  readonly owner?: Draft | undefined;
}

const NO_LEGEND: Legend = new Map();
/** Blanks that are to become one. */
const UNEVEN = /[^\S ]|\s\s/;
const OPTIONAL = /[([]optional[)\]]/i;

/** The entry as a draft; a status that is not known is reported. */
export function draftOfEntry(entry: PlanEntry, problems: TaskProblem[]): Draft {
  const { id, line, owner, under } = entry;
  const text = UNEVEN.test(entry.text) ? entry.text.replace(/\s+/g, ' ').trim() : entry.text.trim();
  const head: Head = {
    id: id === '' ? undefined : id,
    leads: false,
    certain: true,
    phase: false,
    text,
    labels: [],
    optional: OPTIONAL.test(text),
    parallel: false,
    struck: false,
  };
  const draft = newDraft(line, 'entry', head, { owner, under }, NO_LEGEND);
  draft.end = entry.end;
  addAll(draft.dependsOn, entry.dependsOn ?? []);
  addAll(draft.requirements, entry.requirements ?? []);
  addAll(draft.files, entry.files ?? []);
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

/** A heading that only names the part of a document that tasks stand in. */
export function partOf(text: string, line: number, end: number): Heading {
  return { line, end, level: 2, text, isLegend: false, isMarked: false, isStatus: false };
}
