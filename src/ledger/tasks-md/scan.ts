import { closes, dependsInText, type Field, readField, splitDependencies, splitList } from './fields.js';
import { problem, type TaskProblem } from './parsed-tasks.js';
import { cellsOf, dedent, type PlanLine } from './plan-lines.js';
import { BLOCKED, isLegendHeading, type Legend, leadingMark, type Mark, readStatus } from './status-words.js';
import { findId, narrow, outerId } from './task-ids.js';
import { opensWithBox, readTaskLine, type TaskLine } from './task-line.js';

/** A heading, and the task that it declares if `settle` confirms it. Lines are 0-based. */
export interface Heading {
  readonly line: number;
  readonly level: number;
  readonly text: string;
  readonly isLegend: boolean;
  readonly outer?: Heading | undefined;
  /** Set for a heading with an id or a box. */
  readonly draft?: Draft;
  /** The lines of its own section that belong to no task; `of` is an item that may be one. */
  readonly words: { readonly raw: string; readonly of?: Draft | undefined }[];
  /** Problems to report if the section belongs to no task; that of the heading itself, if it holds none either. */
  readonly doubts: TaskProblem[];
}

/** A candidate task before ids, parents and statuses are settled. */
export interface Draft {
  readonly line: number;
  readonly origin: 'box' | 'heading' | 'bold';
  readonly head: TaskLine;
  readonly ordinal?: number | undefined;
  /** The task that contains it by nesting. */
  readonly owner?: Draft | undefined;
  /** The nearest heading above; for a heading's task, the heading around it. */
  readonly under?: Heading | undefined;
  readonly statuses: StatedElsewhere[];
  readonly requirements: string[];
  readonly dependsOn: string[];
  /** Descriptive lines of its body, as written. */
  readonly details: string[];
  prompt?: string;
  reason?: string;
}

export interface StatedElsewhere {
  readonly from: 'field' | 'table' | 'list' | 'contents';
  readonly line: number;
  readonly mark: Mark;
}

/** A line outside of any task that names one. */
interface Mention {
  readonly line: number;
  readonly from: 'table' | 'list';
  readonly id: string;
  /** Undefined for a mere reference. */
  readonly mark?: Mark | undefined;
}

export interface Findings {
  readonly drafts: Draft[];
  readonly headings: Heading[];
  readonly mentions: Mention[];
  /** Bold numbered items without a status: tasks if the file has no others. */
  readonly planned: Draft[];
  readonly problems: TaskProblem[];
}

const OPENS_LIST = /[:：][*_]{0,3}$/;
const OPENS_SPAN = /^_[\p{L}][\p{L} ]{1,23}[:：]/u;
const BLOCK_SCALAR = /^[|>][+-]?$/;

interface OpenItem {
  readonly indent: number;
  /** As written, and as counted. */
  readonly number?: number | undefined;
  readonly ordinal?: number | undefined;
  /** The task of the item; an item without one belongs to the item around it. */
  readonly draft?: Draft | undefined;
}

/** Walks the lines once and collects candidate tasks, mentions of tasks, and problems. */
export class Scanner {
  readonly #findings: Findings = { drafts: [], headings: [], mentions: [], planned: [], problems: [] };
  readonly #lines: readonly PlanLine[];
  readonly #legend: Legend;
  #heading: Heading | undefined;
  /** The items that contain the next line, by indentation. */
  #open: OpenItem[] = [];
  /** Where the last descriptive line went, if it may introduce a list of tasks. */
  #opensList: { pop(): unknown } | undefined;

  constructor(lines: readonly PlanLine[], legend: Legend) {
    this.#lines = lines;
    this.#legend = legend;
  }

  scan(): Findings {
    let at = 0;
    while (at < this.#lines.length) at = this.#visit(this.#line(at), at);
    return this.#findings;
  }

  #line(at: number): PlanLine {
    return this.#lines[at] as PlanLine;
  }

  #visit(line: PlanLine, at: number): number {
    if (this.#heading?.isLegend && line.kind !== 'heading') return at + 1;
    switch (line.kind) {
      case 'blank':
        return at + 1;
      case 'heading':
        this.#open = [];
        this.#visitHeading(line, at);
        return at + 1;
      case 'fence':
      case 'code':
        this.#close(line.indent);
        return this.#visitFence(at);
      case 'row':
        this.#close(line.indent);
        return this.#visitTable(at);
      case 'item':
        return this.#visitItem(line, at);
      case 'text':
        if (opensWithBox(line.text, false, this.#legend)) return this.#visitItem(line, at);
        this.#close(line.indent);
        return leadingMark(line.text) !== undefined && this.#owner() === undefined
          ? this.#visitItem(line, at)
          : this.#visitWords(line, at);
    }
  }

  /** Closes the items that do not contain a line with this indentation, and returns its sibling among them. */
  #close(indent: number): OpenItem | undefined {
    let last: OpenItem | undefined;
    while ((this.#open.at(-1)?.indent ?? -1) >= indent) last = this.#open.pop();
    return last?.indent === indent ? last : undefined;
  }

  #visitHeading({ text, level }: PlanLine, line: number): void {
    while (this.#heading !== undefined && this.#heading.level >= level) this.#heading = this.#heading.outer;
    const outer = this.#heading;
    const head = readTaskLine(text, false, this.#legend);
    const isLegend = isLegendHeading(text) || (outer?.isLegend ?? false);
    const isTask = !isLegend && (head.box !== undefined || head.id !== undefined);
    this.#heading = {
      line,
      level,
      text: isTask ? text : head.text,
      isLegend,
      outer,
      ...(isTask && { draft: newDraft(line, 'heading', head, { under: outer }) }),
      words: [],
      doubts: [],
    };
    this.#findings.headings.push(this.#heading);
    const { stated } = head;
    if (stated !== undefined && stated.mark === undefined) {
      this.#report('unknown_mark', line, `${stated.shown} is not a known status`);
    } else if (stated?.strong && !isTask) {
      this.#doubt('mark_without_id', line, `${stated.shown} stands on a heading without an id or tasks`);
    }
  }

  #visitItem(line: PlanLine, at: number): number {
    const { text, indent, number } = line;
    const before = this.#close(indent);
    // Authors write `1. 1. 1.` as well as `1. 2. 3.`.
    const isSame = number !== undefined && before?.number === number;
    const ordinal = isSame ? (before?.ordinal ?? 0) + 1 : number;
    const item = { indent, number, ordinal };
    const owner = this.#owner();
    const head = readTaskLine(text, line.kind === 'item', this.#legend);
    const inBody = owner !== undefined;
    const isText = readField(text) === undefined;
    const isBold = head.bold && ordinal !== undefined && !inBody && isText;
    const isTask = head.box !== undefined || (isBold && head.stated?.mark !== undefined);
    if (isTask || isBold) {
      // `Tasks:` above a list of tasks describes nothing.
      if (isTask) this.#opensList?.pop();
      this.#opensList = undefined;
      const origin = head.box === undefined ? 'bold' : 'box';
      const draft = newDraft(at, origin, head, { ordinal, owner, under: this.#heading });
      this.#findings[isTask ? 'drafts' : 'planned'].push(draft);
      // Until it is known to be a task, a bold item is a line of its section.
      if (!isTask) this.#heading?.words.push({ raw: line.raw, of: draft });
      this.#open.push({ ...item, draft });
      return at + 1;
    }
    this.#open.push(item);
    const { id, certain, stated } = head;
    const namesTask =
      owner === undefined ? certain || stated !== undefined : outerId(id ?? '') === owner.head.id;
    if (isText && id !== undefined && namesTask) {
      this.#findings.mentions.push({ line: at, from: 'list', id, mark: stated?.mark });
    } else if (isText && !inBody && stated !== undefined) {
      const message = `${stated.shown} is a status without a check box; add one to make the line a task`;
      this.#doubt('mark_without_id', at, message);
    }
    return this.#visitWords(line, at);
  }

  /** Reads a field or a line of description. Returns the next line: a field may span several. */
  #visitWords(line: PlanLine, at: number): number {
    const sink = this.#sink();
    const field = readField(line.text);
    if (field?.key === 'status' && this.#owner() === undefined) {
      this.#doubt('mark_without_id', at, `the status "${field.value.slice(0, 60)}" stands below no task`);
    }
    if (field === undefined || sink === undefined) {
      this.#addWords([line.raw]);
      return at + 1;
    }
    const { value, next } = this.#valueOf(field, line, at);
    const isKnown = applyField(sink, { ...field, value }, at, this.#legend);
    if (!isKnown) this.#report('unknown_mark', at, `"${value.slice(0, 60)}" is not a known status`);
    // A name without a value introduces a list.
    const isShown = !isKnown || (value === '' && field.key !== 'prompt');
    if (isShown) this.#addWords(this.#lines.slice(at, next).map(({ raw }) => raw));
    return next;
  }

  /** Follows a field over its lines: `_Prompt: …` to its closing underscore, another prompt to its end. */
  #valueOf({ key, value, state }: Field, line: PlanLine, at: number): { value: string; next: number } {
    if (state === 'closed' || (state === 'plain' && key !== 'prompt')) return { value, next: at + 1 };
    const isOpen = state === 'open';
    let body = this.#linesBelow(line, at, isOpen, !isOpen && value !== '');
    const box = body.findIndex(
      ({ kind, text }) => kind !== 'code' && opensWithBox(text, kind === 'item', this.#legend),
    );
    const last = isOpen ? body.findLastIndex(({ text }) => closes(text)) : -1;
    if (last !== -1) body = body.slice(0, last + 1);
    else if (box !== -1) body = body.slice(0, box);
    if (isOpen && last === -1) {
      this.#report('unclosed_field', at, `"${line.text.slice(0, 40)}" has no closing underscore`);
      if (key !== 'prompt') return { value, next: at + 1 };
    }
    const shown = body.flatMap(({ kind, raw }) => (kind === 'fence' && value === '' ? [] : [raw]));
    if (last !== -1) shown.push((shown.pop() ?? '').slice(0, -1));
    const opening = BLOCK_SCALAR.test(value) ? '' : value.trim();
    return { value: `${opening}\n${dedent(shown).join('\n')}`.trim(), next: at + 1 + body.length };
  }

  /**
   * Returns the lines below a field that may belong to it: those in its item or task, or else up to the next heading.
   * Another field ends them; inside an open span only another one that begins with an underscore does.
   */
  #linesBelow(
    { kind, indent }: PlanLine,
    at: number,
    isOpen: boolean,
    isParagraph: boolean,
  ): readonly PlanLine[] {
    const container = kind === 'item' ? indent : (this.#open.at(-1)?.indent ?? -1);
    let end = at + 1;
    for (; end < this.#lines.length; end += 1) {
      const line = this.#line(end);
      const isBlank = line.kind === 'blank';
      if (line.kind === 'heading' || (!isBlank && line.indent <= container)) break;
      if (isBlank && isParagraph && container === -1) break;
      const field = line.kind === 'code' ? undefined : readField(line.text);
      if (isOpen ? OPENS_SPAN.test(line.text) || (field?.state ?? 'plain') !== 'plain' : field !== undefined)
        break;
    }
    return this.#lines.slice(at + 1, end);
  }

  #visitFence(at: number): number {
    let next = at + 1;
    while (this.#lines[next]?.kind === 'code') next += 1;
    if (this.#lines[next]?.kind === 'fence') next += 1;
    const inside = this.#lines.slice(at, next);
    const boxes = inside.flatMap(({ text }, index) =>
      /^(?:[-*+]|\d{1,9}[.)])?\s*\[.?\]/.test(text) ? [at + index] : [],
    );
    const [first] = boxes;
    if (first !== undefined) {
      const message = `${boxes.length} check box(es) in a code fence, taken for examples`;
      this.#report('not_a_task', first, message, boxes.at(-1));
    }
    this.#addWords(inside.map(({ raw }) => raw));
    return next;
  }

  /** Reads statuses from a table with a column for them, whose first or second cell is an id. Rows make no tasks. */
  #visitTable(at: number): number {
    let next = at + 1;
    while (this.#lines[next]?.kind === 'row') next += 1;
    const rows = this.#lines.slice(at, next);
    const header = cellsOf(rows[0]?.text ?? '').map((cell) => narrow(cell).replace(/[*_`]/g, '').trim());
    const column = header.findIndex((cell) => STATUS_COLUMN.test(cell));
    const isForeign = column === -1 || header.some((cell) => FOREIGN_COLUMN.test(cell));
    const unread: number[] = [];
    let isOfTasks = false;
    for (const [index, { text }] of rows.entries()) {
      const cells = cellsOf(text);
      const id = cells.slice(0, 2).map(idOfCell).find(Boolean);
      if (isForeign || id === undefined) {
        const isMarked = (cell: string) => opensWithBox(cell, true, this.#legend) || leadingMark(cell);
        if (cells.some(isMarked)) unread.push(at + index);
      } else {
        isOfTasks = true;
        const cell = cells[column] ?? '';
        const mark = readStatus(cell, this.#legend);
        if (mark !== undefined) this.#findings.mentions.push({ line: at + index, from: 'table', id, mark });
        else if (cell !== '') this.#report('unknown_mark', at + index, `"${cell}" is not a known status`);
      }
    }
    const [first] = unread;
    if (first !== undefined) {
      const message = `${unread.length} row(s) with a mark in a table without the ids of tasks and their status`;
      this.#report('not_a_task', first, message, unread.at(-1));
    }
    if (!isOfTasks) this.#addWords(rows.map(({ raw }) => raw));
    return next;
  }

  /** Adds lines to the body of the task that contains them, else to the section. */
  #addWords(lines: readonly string[]): void {
    const owner = this.#owner();
    const isSure = owner !== undefined && (owner.origin !== 'bold' || owner.head.stated?.mark !== undefined);
    const shown = lines.filter((line) => line.trim() !== '');
    addAll(owner?.details, shown);
    if (!isSure) for (const raw of shown) this.#heading?.words.push({ raw, of: owner });
    const last = owner?.details ?? this.#heading?.words;
    this.#opensList = OPENS_LIST.test(shown.at(-1) ?? '') ? last : undefined;
  }

  #owner(): Draft | undefined {
    return this.#open.findLast(({ draft }) => draft !== undefined)?.draft;
  }

  /** Returns the task whose body contains the line: by nesting, else the nearest heading that may be one. */
  #sink(): Draft | undefined {
    const owner = this.#owner();
    if (owner !== undefined) return owner;
    let heading = this.#heading;
    while (heading !== undefined && heading.draft === undefined) heading = heading.outer;
    return heading?.draft;
  }

  #report(code: TaskProblem['code'], line: number, message: string, to = line): void {
    this.#findings.problems.push(problem(code, line, message, to));
  }

  /** Reports the line unless its section turns out to be the body of a task. */
  #doubt(code: TaskProblem['code'], line: number, message: string): void {
    (this.#heading?.doubts ?? this.#findings.problems).push(problem(code, line, message));
  }
}

const STATUS_COLUMN =
  /^(?:status|state|progress|done|状态|狀態|进度|進度|ステータス|状態|進捗|状況|상태|진행|estado|statut|✓|✅)\??$/i;
const FOREIGN_COLUMN = /requirement|risk|decision|question|需求|风险|要件|リスク/i;
const ID_CELL = /^#?([A-Z]{0,10}[-_]?\d{1,6}(?:[.-]\d{1,6}){0,4}[a-z]?)$/;

function idOfCell(cell: string): string | undefined {
  const text = narrow(cell)
    .replace(/[*`[\]]/g, '')
    .trim();
  return ID_CELL.exec(text)?.[1] ?? findId(text, false)?.id;
}

function newDraft(
  line: number,
  origin: Draft['origin'],
  head: TaskLine,
  place: Pick<Draft, 'ordinal' | 'owner' | 'under'>,
): Draft {
  const dependsOn = dependsInText(head.text);
  return { line, origin, head, ...place, statuses: [], requirements: [], dependsOn, details: [] };
}

/** Returns false for an unknown status. */
function applyField(draft: Draft, { key, value }: Field, line: number, legend: Legend): boolean {
  switch (key) {
    case 'prompt':
      if (value !== '') draft.prompt = draft.prompt === undefined ? value : `${draft.prompt}\n\n${value}`;
      return true;
    case 'requirements':
      // Kiro writes `Validates: Requirements 1.2`.
      addAll(draft.requirements, splitList(value.replace(/^Requirements?\s+/i, '')));
      return true;
    case 'dependsOn':
      addAll(draft.dependsOn, splitDependencies(value));
      return true;
    case 'blocked':
      if (splitList(value).length === 0) return true;
      draft.reason = value;
      draft.statuses.push({ from: 'field', line, mark: BLOCKED });
      return true;
    case 'status': {
      const mark = readStatus(value, legend);
      if (mark !== undefined) draft.statuses.push({ from: 'field', line, mark });
      return mark !== undefined;
    }
  }
}

/** Appends in a loop: spreading a hostile line's values into `push` would overflow the stack. */
function addAll<T>(list: T[] | undefined, values: Iterable<T>): void {
  for (const value of values) list?.push(value);
}
