import { type Findings, type Heading, newDraft, problem } from './draft.js';
import { type Head, opensWithBox, readHead } from './head.js';
import { narrow } from './ids.js';
import { type Legend, leadingMark, readStatus } from './marks.js';

/**
 * Reads the block structure of Markdown: headings, list items, paragraphs, tables, code. Statuses are read from the
 * text, since `[-]`, `[~]` and emoji are not Markdown.
 *
 * Follows CommonMark's block rules, with tables, in one pass. Libraries produce tokens for rendering and are slow:
 * markdown-it took 300 ms for 55,000 lines, mdast/micromark 8 s for a nested list of 5,000 items.
 */
export type Block = Container | Lines | Table;

export interface Container {
  readonly kind: 'root' | 'item' | 'quote';
  /** 0-based first line, and the line after the last non-blank one. */
  readonly start: number;
  readonly end: number;
  /** Number of an ordered list item. */
  readonly ordinal?: number;
  readonly children: Block[];
}

export interface Lines {
  readonly kind: 'heading' | 'paragraph' | 'fence' | 'code' | 'html';
  readonly start: number;
  readonly end: number;
  /** 1 to 6 for a heading, else 0. */
  readonly level: number;
  /** Without container prefixes; further indentation is kept. */
  readonly lines: readonly string[];
}

export interface Table {
  readonly kind: 'table';
  readonly start: number;
  readonly end: number;
  readonly rows: { readonly line: number; readonly cells: string[] }[];
}

export function readBlocks(lines: readonly string[]): Container {
  return new BlockReader(lines).read();
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface OpenContainer {
  readonly block: Mutable<Container>;
  /** Minimum indentation of the item's lines, in columns. */
  readonly width: number;
  /** The list that the next item with this marker continues. */
  list?: OpenList | undefined;
}

interface OpenList {
  readonly marker: string;
  readonly items: { readonly block: Mutable<Container>; readonly number: number }[];
}

type Leaf = Mutable<Omit<Lines, 'lines'>> & {
  lines: string[];
  readonly until?: RegExp;
  readonly fence?: Fence;
};

interface Fence {
  readonly mark: string;
  readonly length: number;
  readonly indent: number;
}

/** Deeper nesting is read as text, which keeps the time linear. */
const MAX_DEPTH = 200;
const MAX_DIGITS = 9;
/** Indentation of code, in columns. */
const CODE = 4;

const [TAB, SPACE] = [9, 32];
const HEADING = /^(#{1,6})(?:[ \t]+|$)/;
const FENCE = /^(?:`{3,}|~{3,})/;
const UNDERLINE = /^(?:=+|-+)[ \t]*$/;

const HTML: readonly (readonly [opens: RegExp, until: RegExp, interrupts: boolean])[] = [
  [/^<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i, true],
  [/^<!--/, /-->/, true],
  [/^<\?/, /\?>/, true],
  [/^<![A-Z]/, />/, true],
  [/^<!\[CDATA\[/, /\]\]>/, true],
  [
    /^<\/?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|$)/i,
    /^[ \t]*$/,
    true,
  ],
  [/^<\/?[a-z][a-z0-9-]*(?:[ \t][^<>]*)?>[ \t]*$/i, /^[ \t]*$/, false],
];

class BlockReader {
  readonly #lines: readonly string[];
  readonly #root: OpenContainer;
  readonly #stack: OpenContainer[];
  #leaf: Leaf | undefined;
  #table: Table | undefined;
  /** The current line: its text, the first character after the container prefixes, and its column. */
  #text = '';
  #at = 0;
  #column = 0;
  /** Columns between the containers and `#at`. */
  #indent = 0;
  /** The line after the last non-blank one. */
  #filled = 0;
  /** Number of containers that continue, while the others are still open; else -1. */
  #keeps = -1;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#root = { block: { kind: 'root', start: 0, end: lines.length, children: [] }, width: 0 };
    this.#stack = [this.#root];
  }

  read(): Container {
    for (let line = 0; line < this.#lines.length; line += 1) {
      this.#readLine(line);
    }
    this.#closeTo(1);
    this.#closeLeaf();
    this.#endList(this.#root);
    return this.#root.block;
  }

  #readLine(line: number): void {
    this.#text = this.#lines[line] ?? '';
    this.#at = 0;
    this.#column = 0;
    this.#indent = 0;
    this.#skipBlanks();
    const depth = this.#matchContainers(line);
    const matched = depth === this.#stack.length;
    if (matched && this.#continueLeaf(line)) return;
    if (this.#at >= this.#text.length) {
      this.#blankLine(depth);
      return;
    }
    this.#openBlocks(line, depth);
    this.#filled = line + 1;
  }

  /** Consumes the prefixes of open containers and returns how many continue. */
  #matchContainers(line: number): number {
    let depth = 1;
    for (; depth < this.#stack.length; depth += 1) {
      const { block, width } = this.#stack[depth] as OpenContainer;
      if (block.kind === 'quote') {
        if (this.#indent >= CODE || this.#text.charAt(this.#at) !== '>') break;
        this.#takeQuoteMark();
      } else if (this.#at >= this.#text.length) {
        // An item that begins with a blank line ends at a second one.
        if (block.children.length === 0 && this.#leaf === undefined && line > block.start) break;
      } else if (this.#indent >= width) this.#indent -= width;
      else break;
    }
    return depth;
  }

  #takeQuoteMark(): void {
    this.#at += 1;
    this.#column += 1;
    this.#indent = 0;
    this.#skipBlanks();
    if (this.#indent > 0) this.#indent -= 1;
  }

  #skipBlanks(): void {
    const from = this.#column;
    const text = this.#text;
    let column = from;
    let at = this.#at;
    for (; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === SPACE) column += 1;
      else if (unit === TAB) column += CODE - (column % CODE);
      else break;
    }
    this.#at = at;
    this.#column = column;
    this.#indent += column - from;
  }

  /** Continues an open fence, HTML or code block. */
  #continueLeaf(line: number): boolean {
    const leaf = this.#leaf;
    if (leaf === undefined) return false;
    const isBlank = this.#at >= this.#text.length;
    if (leaf.fence !== undefined) {
      const { mark, length, indent } = leaf.fence;
      if (this.#indent < CODE && closesFence(this.#text, this.#at, mark, length)) this.#closeLeaf(line + 1);
      else leaf.lines.push(this.#rest(indent));
    } else if (leaf.kind === 'html') {
      const text = this.#rest(0);
      if (leaf.until?.source === BLANK && isBlank) {
        this.#closeLeaf(line);
        return false;
      }
      leaf.lines.push(text);
      if (leaf.until?.test(text) === true) this.#closeLeaf(line + 1);
    } else if (leaf.kind === 'code' && (isBlank || this.#indent >= CODE)) {
      leaf.lines.push(isBlank ? '' : this.#rest(CODE));
    } else return false;
    if (!isBlank) this.#filled = line + 1;
    return true;
  }

  #blankLine(depth: number): void {
    // A blank line ends only quotes and empty items.
    if (depth < this.#stack.length) this.#closeTo(depth);
    else this.#closeLeaf();
    this.#table = undefined;
  }

  #openBlocks(line: number, matched: number): void {
    this.#keeps = matched < this.#stack.length ? matched : -1;
    const paragraph = this.#leaf?.kind === 'paragraph' ? this.#leaf : undefined;
    for (;;) {
      const interrupts = paragraph !== undefined && this.#leaf === paragraph;
      if (this.#indent >= CODE) {
        if (interrupts) break;
        this.#closeRest();
        this.#table = undefined;
        this.#begin({ kind: 'code', start: line, end: 0, level: 0, lines: [this.#rest(CODE)] });
        return;
      }
      const first = this.#text.charCodeAt(this.#at);
      if (first === 0x3e && this.#stack.length < MAX_DEPTH) {
        this.#closeRest();
        this.#enter({ kind: 'quote', start: line, end: line, children: [] }, 0);
        this.#takeQuoteMark();
        if (this.#at >= this.#text.length) return;
      } else if (
        interrupts &&
        this.#keeps === -1 &&
        (first === 0x3d || first === 0x2d) &&
        UNDERLINE.test(this.#text.slice(this.#at))
      ) {
        const level = first === 0x3d ? 1 : 2;
        Object.assign(paragraph, { kind: 'heading', level });
        this.#closeLeaf(line + 1);
        return;
      } else if (isRule(this.#text, this.#at, first)) {
        this.#closeRest();
        this.#plain();
        return;
      } else {
        const marker =
          this.#stack.length < MAX_DEPTH
            ? markerAt(this.#text, this.#at, interrupts && this.#keeps === -1)
            : 0;
        if (marker === 0) {
          if (!this.#openLeaf(line, first, interrupts)) break;
          return;
        }
        this.#closeRest();
        this.#openItem(line, marker);
        if (this.#at >= this.#text.length) return;
      }
    }
    const goesOn = this.#keeps === -1;
    if (this.#table !== undefined && goesOn) {
      this.#addRow(line);
      return;
    }
    if (paragraph !== undefined && this.#leaf === paragraph) {
      if (goesOn && this.#opensTable(line)) {
        this.#closeLeaf();
        this.#openTable(line);
        return;
      }
      paragraph.lines.push(this.#rest(0));
      return;
    }
    this.#closeRest();
    if (this.#opensTable(line)) this.#openTable(line);
    else this.#begin({ kind: 'paragraph', start: line, end: 0, level: 0, lines: [this.#rest(0)] });
  }

  /** Closes what the new block does not continue. */
  #closeRest(): void {
    if (this.#keeps === -1) this.#closeLeaf();
    else this.#closeTo(this.#keeps);
    this.#keeps = -1;
  }

  /** Opens headings, fences and HTML. */
  #openLeaf(line: number, first: number, interrupts: boolean): boolean {
    if (first !== 0x23 && first !== 0x60 && first !== 0x7e && first !== 0x3c) return false;
    const rest = this.#text.slice(this.#at);
    if (first === 0x23) {
      const level = HEADING.exec(rest)?.[1]?.length;
      if (level === undefined) return false;
      this.#closeRest();
      const text = rest.slice(level).trim().replace(CLOSING_HASHES, '');
      this.#begin({ kind: 'heading', start: line, end: 0, level, lines: [text] });
      this.#closeLeaf(line + 1);
      return true;
    }
    if (first === 0x60 || first === 0x7e) {
      const [mark = ''] = FENCE.exec(rest) ?? [];
      if (mark === '' || (first === 0x60 && rest.includes('`', mark.length))) return false;
      this.#closeRest();
      const fence = { mark: mark.charAt(0), length: mark.length, indent: this.#indent };
      this.#begin({ kind: 'fence', start: line, end: 0, level: 0, lines: [], fence });
      return true;
    }
    if (first !== 0x3c) return false;
    const html = HTML.find(([opens, , may]) => (may || !interrupts) && opens.test(rest));
    if (html === undefined) return false;
    this.#closeRest();
    const text = this.#rest(0);
    this.#begin({ kind: 'html', start: line, end: 0, level: 0, lines: [text], until: html[1] });
    if (html[1].source !== BLANK && html[1].test(text)) this.#closeLeaf(line + 1);
    return true;
  }

  #openItem(line: number, length: number): void {
    const before = this.#indent + length;
    const from = this.#at;
    this.#at += length;
    this.#column += length;
    this.#indent = 0;
    this.#skipBlanks();
    const isEmpty = this.#at >= this.#text.length;
    const gap = isEmpty || this.#indent > CODE ? 1 : this.#indent;
    this.#indent -= isEmpty ? this.#indent : gap;
    const parent = this.#stack.at(-1) ?? this.#root;
    const marker = this.#text.charAt(from + length - 1);
    const block: Mutable<Container> = { kind: 'item', start: line, end: line + 1, children: [] };
    let { list } = parent;
    if (list?.marker !== marker) {
      this.#endList(parent);
      list = { marker, items: [] };
    }
    if (length > 1) list.items.push({ block, number: Number(this.#text.slice(from, from + length - 1)) });
    // The item continues a list that another block would end.
    parent.list = undefined;
    this.#enter(block, before + gap);
    parent.list = list;
  }

  #opensTable(line: number): boolean {
    const { length } = this.#text;
    if (line + 1 >= this.#lines.length || this.#text.indexOf('|', this.#at) === -1 || length === 0)
      return false;
    const below = isDelimiterRow((this.#lines[line + 1] ?? '').replace(/^[\s>]*/, ''));
    return below !== undefined && below === cellsOf(this.#text.slice(this.#at)).length;
  }

  #openTable(line: number): void {
    const table: Table = { kind: 'table', start: line, end: line + 2, rows: [] };
    table.rows.push({ line, cells: cellsOf(this.#text.slice(this.#at)) });
    this.#plain();
    this.#add(table);
    this.#table = table;
  }

  #addRow(line: number): void {
    const table = this.#table as Mutable<Table>;
    table.end = line + 1;
    // The delimiter row only sets the alignment.
    if (line === table.start + 1) return;
    const { length } = table.rows[0]?.cells ?? [];
    const cells = cellsOf(this.#text.slice(this.#at)).slice(0, length);
    while (cells.length < length) cells.push('');
    table.rows.push({ line, cells });
  }

  /** Returns the rest of the line, with the indentation beyond `taken` columns. */
  #rest(taken: number): string {
    const blanks = this.#indent - taken;
    const text = this.#at === 0 ? this.#text : this.#text.slice(this.#at);
    return blanks > 0 ? ' '.repeat(blanks) + text : text;
  }

  #enter(block: Mutable<Container>, width: number): void {
    this.#plain();
    this.#add(block);
    this.#stack.push({ block, width });
  }

  #begin(leaf: Leaf): void {
    this.#plain();
    this.#add(leaf);
    this.#leaf = leaf;
  }

  /** A block other than an item ends the list before it. */
  #plain(): void {
    const parent = this.#stack.at(-1) ?? this.#root;
    if (parent.list !== undefined) this.#endList(parent);
    this.#table = undefined;
  }

  #add(block: Block): void {
    this.#stack.at(-1)?.block.children.push(block);
  }

  #closeTo(depth: number): void {
    this.#closeLeaf();
    this.#table = undefined;
    while (this.#stack.length > depth) {
      const closed = this.#stack.pop();
      if (closed === undefined) return;
      this.#endList(closed);
      closed.block.end = Math.max(closed.block.start + 1, this.#filled);
    }
  }

  #closeLeaf(end = this.#filled): void {
    const leaf = this.#leaf;
    if (leaf === undefined) return;
    leaf.end = leaf.fence === undefined ? Math.max(leaf.start + 1, end) : Math.max(end, leaf.start + 1);
    if (leaf.kind === 'code') while (leaf.lines.at(-1) === '') leaf.lines.pop();
    this.#leaf = undefined;
  }

  /** Authors write `1. 1. 1.` as well as `1. 2. 5.`: the written numbers count unless two are equal. */
  #endList(parent: OpenContainer): void {
    const items = parent.list?.items;
    parent.list = undefined;
    if (items === undefined || items.length === 0) return;
    const asWritten = new Set(items.map(({ number }) => number)).size === items.length;
    const first = items[0]?.number ?? 0;
    items.forEach(({ block, number }, at) => {
      block.ordinal = asWritten ? number : first + at;
    });
  }
}

const BLANK = /^[ \t]*$/.source;
const CLOSING_HASHES = /(?:^|(?<=[ \t]))#+$/;

function closesFence(text: string, from: number, mark: string, length: number): boolean {
  let at = from;
  while (text.charAt(at) === mark) at += 1;
  return at - from >= length && text.slice(at).trim() === '';
}

/** Returns the length of a list marker (`-`, `12.`), 0 without one. */
function markerAt(text: string, at: number, interrupts: boolean): number {
  const first = text.charCodeAt(at);
  let length = 0;
  if (first === 0x2d || first === 0x2a || first === 0x2b) length = 1;
  else {
    while (length < MAX_DIGITS && isDigit(text.charCodeAt(at + length))) length += 1;
    const delimiter = text.charCodeAt(at + length);
    if (length === 0 || (delimiter !== 0x2e && delimiter !== 0x29)) return 0;
    length += 1;
  }
  const after = text.charCodeAt(at + length);
  if (at + length < text.length && after !== SPACE && after !== TAB) return 0;
  if (!interrupts) return length;
  // Neither an empty item nor one with another number than 1 interrupts a paragraph.
  const isEmpty = text.slice(at + length).trim() === '';
  return isEmpty || (length > 1 && Number(text.slice(at, at + length - 1)) !== 1) ? 0 : length;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** `---`, `* * *`, `___`. */
function isRule(text: string, from: number, first: number): boolean {
  if (first !== 0x2d && first !== 0x2a && first !== 0x5f) return false;
  let count = 0;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === first) count += 1;
    else if (unit !== SPACE && unit !== TAB) return false;
  }
  return count >= 3;
}

/** Splits a row into cells, without the outer pipes; `\|` is a pipe in a cell. */
export function cellsOf(row: string): string[] {
  const text = row.trim();
  const cells: string[] = [];
  let from = text.startsWith('|') ? 1 : 0;
  let hasEscape = false;
  for (let at = from; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5c) {
      hasEscape = true;
      at += 1;
    } else if (unit === 0x7c) {
      cells.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (from < text.length) cells.push(text.slice(from));
  return cells.map((cell) => (hasEscape ? cell.replaceAll('\\|', '|') : cell).trim());
}

/** Returns the number of columns of a delimiter row, undefined for other lines. */
export function isDelimiterRow(row: string): number | undefined {
  const text = row.trimEnd();
  if (!/^[|:-]/.test(text) || !text.includes('-')) return undefined;
  if (/[^|:\- \t]/.test(text)) return undefined;
  const cells = cellsOf(text);
  return cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell)) ? cells.length : undefined;
}

const ID =
  /^(?:id|#|no\.?|nr\.?|task ?id|task ?(?:no|number|#)\.?|编号|編號|序号|番号|任务编号|タスク(?:id|番号))$/i;
const TASK =
  /^(?:tasks?|phases?|milestones?|stages?|sprints?|epics?|stor(?:y|ies)|steps?|weeks?|阶段|フェーズ|단계|작업|태스크|任务|任務|タスク|作業|作业|待办事项?)(?:名称?|名|内容|描述)?$|^task (?:name|title|description)$/i;
const TITLE = /^(?:title|description|name|summary|标题|描述|内容|内容|名称|説明|概要|件名|goal)$/i;
const STATUS =
  /^(?:status|state|progress|done|状态|狀態|进度|進度|ステータス|状態|進捗|状況|상태|진행|estado|statut|✓|✅)\??$/i;
const FOREIGN = /requirement|risk|decision|question|milestone|需求|风险|要件|リスク/i;

/**
 * Reads a table with a column for the status and one for the id or the task. Checkboxes in other tables are reported.
 */
export function scanTable(
  table: Table,
  under: Heading | undefined,
  legend: Legend,
  findings: Findings,
): void {
  const [header, ...rows] = table.rows;
  if (header === undefined) return;
  const columns = header.cells.map((cell) => narrow(cell).replace(/[*_`]/g, '').trim());
  const id = columns.findIndex((cell) => ID.test(cell));
  const task = columns.findIndex((cell) => TASK.test(cell));
  const title = columns.findIndex((cell, at) => TITLE.test(cell) && at !== id && at !== task);
  const named = columns.findIndex((cell) => STATUS.test(cell));
  const status =
    named !== -1 ? named : columns.findIndex((cell, at) => cell === '' && isMarks(rows, at, legend));
  if (status === -1 || (id === -1 && task === -1) || columns.some((cell) => FOREIGN.test(cell))) {
    reportBoxes(table, legend, findings);
    return;
  }
  for (const { line, cells } of rows) {
    const at = (column: number): string => cells[column]?.trim() ?? '';
    if (cells.every((cell) => cell.trim() === '')) continue;
    const head = headOf(at(id), at(task), at(title), id !== -1, legend);
    const text = at(status);
    const mark = readStatus(text, legend) ?? (text === '' ? head.mark : undefined);
    if (mark === undefined && text !== '') {
      findings.problems.push(
        problem('unknown_marker', line, `"${text}" is not a known status; read as pending`),
      );
    }
    if (head.id === undefined) {
      const message = `"${text.slice(0, 40)}" stands in a row without an id; give it one to make it a task`;
      findings.problems.push(problem('mark_without_id', line, message));
      continue;
    }
    findings.mentions.push({
      line,
      from: 'table',
      draft: newDraft(line, 'table', head, { under }),
      mark: mark ?? { status: 'pending' },
    });
  }
}

/** The id is in its own column, or at the start of the task's. */
function headOf(id: string, task: string, title: string, hasId: boolean, legend: Legend): Head {
  const inTask = readHead(task, false, legend);
  const inId = readHead(id, false, legend);
  const plain = narrow(id)
    .replace(/[*`[\]]/g, '')
    .trim();
  const own = inId.id !== undefined && inId.text === '' ? inId.id : plain;
  const text = inTask.text || title;
  if (!hasId || own === '' || own.length > 32) return { ...inTask, text };
  // "1" in an id column is an id; "1. Title" in the task column must not become another one.
  return { ...inTask, id: own, text };
}

function isMarks(rows: Table['rows'], column: number, legend: Legend): boolean {
  const cells = rows.map(({ cells: row }) => row[column]?.trim() ?? '').filter((cell) => cell !== '');
  return (
    cells.length > 0 && cells.every((cell) => opensWithBox(cell, legend) || leadingMark(cell) !== undefined)
  );
}

function reportBoxes(table: Table, legend: Legend, { problems }: Findings): void {
  const isMark = (cell: string): boolean => opensWithBox(cell, legend) || leadingMark(cell) !== undefined;
  const rows = table.rows.slice(1).filter(({ cells }) => cells.some(isMark));
  const [first] = rows;
  if (first === undefined) return;
  const message = `${rows.length} row(s) with a checkbox or a mark in a table without columns for a task's id and status`;
  problems.push(problem('not_a_task', first.line, message, rows.at(-1)?.line));
}
