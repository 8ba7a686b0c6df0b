import { type Block, type Container, type Lines, readBlocks, scanTable, type Table } from './blocks.js';
import { applyField, type Draft, type Findings, type Heading, newDraft, problem } from './draft.js';
import { namesPrompt, readField } from './fields.js';
import { bulletOf, type Head, opensWithBox, readHead } from './head.js';
import { opensPlan, reportFence, statusOfSection, withoutComments } from './headings.js';
import { outerId } from './ids.js';
import { DECORATION, type Legend, leadingMark, readStatus } from './marks.js';
import { followSpan, join, type TaskProblem } from './parsed-tasks.js';
import { isLegendHeading } from './status.js';

/** Walks the document once and collects candidate tasks, mentions of tasks, and problems. */
export function scan(lines: readonly string[], legend: Legend, findings: Findings): void {
  new Scanner(lines, legend, findings).walk(readBlocks(lines));
}

/** True for a heading without a number but with a status: `### ✅ User login`, not `## 🔄 Sync` or `### ❌ Don't`. */
function namesTask({ stated, text }: Head): boolean {
  return stated?.mark !== undefined && stated.strong && text !== '' && !ADVICE.test(text);
}

const ADVICE =
  /^(?:do|don[’']?ts?|dos|good|bad|correct|incorrect|wrong|right|pros?|cons?|avoid|prefer)(?:\W|$)/i;

function isContainer(block: Block): block is Container {
  return block.kind === 'item' || block.kind === 'quote' || block.kind === 'root';
}

const OPENS_PLAN_OF_PHASE = /^[\s*_`]*\d/;

/** `01-02: Write the parser` below phase 1 is a task, whatever else its line says. */
function isPlanOf({ certain, id = '' }: Head, phase: Draft | undefined): boolean {
  const number = /^(\d\d(?:\.\d+)?)-/.exec(id)?.[1];
  return (
    certain && number !== undefined && phase?.head.phase === true && phaseNumber(phase) === Number(number)
  );
}

function phaseNumber({ head: { id = '' } }: Draft): number {
  return Number(id.slice(id.lastIndexOf(' ') + 1));
}

const OPENS_LIST = /[:：][*_]{0,3}$/;
const QUOTE_MARKS = /^(?:\s*>)+ ?/;

interface Walk {
  readonly container: Container;
  /** The task whose body contains its blocks. */
  readonly owner: Draft | undefined;
  /** Index of the next block. */
  at: number;
}

class Scanner {
  readonly findings: Findings;
  readonly #lines: readonly string[];
  readonly #legend: Legend;
  #heading: Heading | undefined;
  /** Lines before this one belong to a prompt. */
  #taken = 0;
  /** A task whose prompt follows: its field had only the name. */
  #asks: { readonly draft: Draft; readonly takes: 'block' | 'items' | 'section' } | undefined;
  /** True after a line that announces the plan: `Plans:`. */
  #isPlan = false;
  /** The last candidate task of a plan without marks. */
  #planned: { readonly draft: Draft; readonly end: number } | undefined;
  /** The task whose last detail introduces a list; a list of tasks needs no such line. */
  #opensList: Draft | undefined;
  /** The last heading within a task that its details name. */
  #told: Heading | undefined;

  constructor(lines: readonly string[], legend: Legend, findings: Findings) {
    this.findings = findings;
    this.#lines = lines;
    this.#legend = legend;
  }

  walk(root: Container): void {
    const open = [this.#enter(root, undefined)];
    for (let walk = open.at(-1); walk !== undefined; walk = open.at(-1)) {
      const { container, owner, at } = walk;
      const block = container.children[at];
      walk.at += 1;
      if (block === undefined) open.pop();
      else if (this.#isTaken(block)) continue;
      else if (isContainer(block)) {
        const inside = block.kind === 'item' ? this.#visitItem(block, owner) : this.#enter(block, owner);
        if (inside !== undefined) open.push(inside);
      } else this.#visitLeaf(block, container, owner);
    }
  }

  #enter(container: Container, owner: Draft | undefined): Walk {
    if (container.kind !== 'item') this.#isPlan = false;
    return { container, owner, at: 0 };
  }

  /** True if a prompt contains the block, or takes it now. */
  #isTaken(block: Block): boolean {
    return (block.end <= this.#taken && !isContainer(block)) || this.#answers(block);
  }

  #visitLeaf(block: Lines | Table, container: Container, owner: Draft | undefined): void {
    this.#isPlan = block.kind === 'paragraph' && opensPlan(block.lines.at(-1) ?? '', true);
    switch (block.kind) {
      case 'heading':
        // Inside an item or a quote a heading opens no section.
        if (container.kind === 'root' && block.lines.length === 1) this.#visitHeading(block);
        else this.#visitLines(block, 0, container, owner);
        return;
      case 'paragraph':
        this.#visitLines(block, 0, container, owner);
        return;
      case 'code':
      case 'html': {
        const shown = block.kind === 'html' ? withoutComments(block) : block;
        const isTasks = shown.lines.some((line) => opensWithBox(line, this.#legend));
        if (isTasks) this.#visitLines(shown, 0, container, owner);
        else if (block.kind === 'code') this.#addDetails(this.#sink(owner), block.start, this.#raw(block));
        return;
      }
      case 'fence':
        if (block.end <= this.#taken) return;
        reportFence(block, this.#legend, this.findings.problems);
        this.#addDetails(this.#sink(owner), block.start, this.#raw(block));
        return;
      case 'table': {
        const { length } = this.findings.mentions;
        scanTable(block, this.#heading, this.#legend, this.findings);
        // Its rows are tasks, or mention one.
        if (this.findings.mentions.length > length) return;
        const rows = block.rows.map(({ cells }) => `| ${cells.join(' | ')} |`);
        this.#addDetails(this.#sink(owner), block.start, rows);
        return;
      }
    }
  }

  #visitHeading({ start, level, lines: [text = ''] }: Lines): void {
    this.#asks = undefined;
    if (namesPrompt(`**${text}**`)) {
      const draft = this.#sink(undefined);
      if (draft !== undefined && (draft.head.certain || draft.head.phase)) {
        this.#asks = { draft, takes: 'section' };
        return;
      }
    }
    while (this.#heading !== undefined && this.#heading.level >= level) this.#heading = this.#heading.outer;
    const outer = this.#heading;
    const head = readHead(text, false, this.#legend);
    const isLegend = isLegendHeading(text) || (outer?.isLegend ?? false);
    const says = head.id === undefined ? statusOfSection(head) : undefined;
    const isTask =
      says === undefined &&
      !isLegend &&
      (head.box !== undefined || head.id !== undefined || (level > 1 && namesTask(head)));
    if (says === undefined && !isTask && !isLegend) this.#reportHeading(head, start);
    if (head.stated !== undefined && head.stated.mark === undefined) this.#reportUnknown(head, start);
    this.#heading = {
      line: start,
      level,
      text: text.trim(),
      isLegend,
      isStatus: says !== undefined,
      isMarked: head.mark !== undefined || head.box !== undefined,
      ...(says !== undefined && { says }),
      ...(outer !== undefined && { outer }),
      ...(isTask && { draft: newDraft(start, 'heading', head, { under: outer }) }),
    };
    this.findings.headings.push(this.#heading);
  }

  #reportHeading({ stated }: Head, line: number): void {
    if (stated?.mark === undefined || DECORATION.has(stated.shown.replace('\uFE0F', ''))) return;
    const message = `${stated.shown} stands on a heading that names no task; give it a number to make it one`;
    this.findings.problems.push(problem('mark_without_id', line, message));
  }

  #reportUnknown({ stated }: Head, line: number): void {
    const message = `${stated?.shown} is not a known status`;
    this.findings.problems.push(problem('unknown_mark', line, message));
  }

  /** Adds a block to the pending prompt. */
  #answers(block: Block): boolean {
    const asks = this.#asks;
    if (asks === undefined || block.kind === 'root') return false;
    const isItem = block.kind === 'item';
    const opening = this.#lines[block.start] ?? '';
    const ends =
      block.kind === 'heading' ||
      (asks.takes === 'items' && !isItem) ||
      (asks.takes !== 'section' && (opensWithBox(opening, this.#legend) || readField(opening) !== undefined));
    if (ends) {
      this.#asks = undefined;
      return false;
    }
    const isFence = block.kind === 'fence';
    const lines = isFence
      ? block.lines
      : this.#lines
          .slice(block.start, block.end)
          .map((line) => (block.kind === 'quote' ? line.replace(/^[\s>]*>\s?/, '') : line));
    const { draft, takes } = asks;
    const text = join('', lines);
    draft.prompt = draft.prompt === undefined ? text : `${draft.prompt}\n${isItem ? '' : '\n'}${text}`;
    this.#taken = Math.max(this.#taken, block.end);
    if (takes === 'block') this.#asks = isItem ? { draft, takes: 'items' } : undefined;
    return true;
  }

  #visitItem(item: Container, owner: Draft | undefined): Walk | undefined {
    const [first] = item.children;
    if (first?.kind !== 'paragraph' || first.start !== item.start || first.start < this.#taken) {
      // The whole item belongs to a prompt.
      return item.end <= this.#taken ? undefined : this.#enter(item, owner);
    }
    const hasMore = item.children.length > 1;
    const opening = first.lines[0] ?? '';
    const head = readHead(opening, true, this.#legend);
    if (head.box === undefined) {
      const task = this.#visitItemText(first, head, item, owner);
      return hasMore ? { container: item, owner: task ?? owner, at: 1 } : undefined;
    }
    const draft = this.#addBox(head, first.start, item.ordinal, owner);
    this.#visitLines(first, 1, item, draft ?? owner);
    return hasMore ? { container: item, owner: draft ?? owner, at: 1 } : undefined;
  }

  /** Reads an item without a box: a field, a mention, a task of a phase (which it returns), or text. */
  #visitItemText(paragraph: Lines, head: Head, item: Container, owner: Draft | undefined): Draft | undefined {
    const line = paragraph.start;
    const isField = readField(paragraph.lines[0] ?? '') !== undefined;
    if (isField || this.#heading?.isLegend) {
      this.#visitLines(paragraph, 0, item, owner);
      return undefined;
    }
    // In the body of a heading's task, a bare mark or number belongs to that body.
    const sink = this.#sink(owner);
    const inBody = owner !== undefined || sink?.head.certain === true;
    const isNumbered = !inBody && item.ordinal !== undefined && (head.leads || head.mark === undefined);
    const own = head.id ?? (isNumbered ? String(item.ordinal) : undefined);
    const place = { under: this.#heading };
    const draftOf = (ordinal?: number): Draft => newDraft(line, 'list', head, { ...place, ordinal });
    const isOfPhase =
      owner === undefined &&
      sink?.head.phase === true &&
      (item.ordinal !== undefined || (head.leads && this.#heading?.draft === sink));
    if (isOfPhase && head.mark !== undefined && head.id === undefined) {
      const draft = draftOf(item.ordinal);
      this.#endDetails();
      this.findings.drafts.push(draft);
      this.#visitLines(paragraph, 1, item, draft);
      return draft;
    }
    if (owner === undefined && head.mark !== undefined && own !== undefined) {
      const draft = newDraft(line, 'list', { ...head, id: own }, place);
      this.findings.mentions.push({ line, from: 'list', draft, mark: head.mark });
    } else if (!inBody && head.stated !== undefined) {
      const message = `${head.stated.shown} is a status mark without id or checkbox; add one to make it a task`;
      this.findings.problems.push(problem('mark_without_id', line, message));
    } else if (owner === undefined && (this.#isPlanned(head, item) || isPlanOf(head, sink))) {
      const draft = draftOf(item.ordinal);
      this.#planned = { draft, end: item.end };
      this.findings.planned.push(draft);
    } else if (
      head.id !== undefined &&
      (owner === undefined ? head.certain : outerId(head.id) === owner.head.id)
    ) {
      this.findings.mentions.push({ line, from: 'list', draft: draftOf() });
    }
    this.#visitLines(paragraph, 0, item, owner);
    return undefined;
  }

  /** True for an item of a plan without a status, or below `## ✅ Done`. */
  #isPlanned({ id, certain }: Head, { ordinal }: Container): boolean {
    if (this.#heading?.isStatus === true && !certain) return true;
    if (id === undefined && ordinal === undefined) return false;
    return this.#isPlan || (this.#heading !== undefined && opensPlan(this.#heading.text, false));
  }

  /** Reads lines of text: boxes that Markdown does not see, fields, and the rest. */
  #visitLines(block: Lines, from: number, container: Container, owner: Draft | undefined): void {
    let last: Draft | undefined;
    for (let index = from; index < block.lines.length; index += 1) {
      const line = block.start + index;
      const text = block.lines[index] ?? '';
      if (line < this.#taken || text.trim() === '') continue;
      if (opensWithBox(text, this.#legend)) {
        last = this.#addTextBox(text, line, last ?? owner) ?? last;
        if (block.kind === 'code') {
          const message = 'indented so far that Markdown treats it as code; read as a task';
          this.findings.problems.push(problem('indented_as_code', line, message));
        }
        continue;
      }
      if (container.kind === 'root' && block.kind === 'paragraph' && OPENS_PLAN_OF_PHASE.test(text)) {
        const head = readHead(text, false, this.#legend);
        if (isPlanOf(head, this.#sink(undefined))) {
          this.#endDetails();
          last = newDraft(line, 'list', head, { under: this.#heading });
          this.findings.planned.push(last);
          continue;
        }
      }
      const sink = this.#sink(last ?? owner);
      if (owner === undefined && last === undefined && this.#mentions(text, line, sink, container)) continue;
      const item = index === 0 && container.kind === 'item' ? container : undefined;
      const raw = block.kind === 'html' ? [text] : this.#raw({ start: line, end: line + 1 });
      if (sink !== undefined) this.#addLine(sink, text, line, block, item, raw);
      else this.#addDetails(undefined, line, raw);
    }
  }

  /**
   * Reads a line that states a task's status (`**Phase 1 (Setup)**: ✅ COMPLETE`), or reports a status without a task.
   */
  #mentions(text: string, line: number, sink: Draft | undefined, container: Container): boolean {
    if (this.#heading?.isLegend || container.kind === 'item') {
      if (this.#heading?.isLegend || sink?.origin === 'checkbox') return false;
      const problems = sink === undefined ? this.findings.problems : sink.otherwise;
      // The mark that opens an item was reported already.
      const reported = line !== container.start && this.#reportMark(text, line, problems);
      return (sink === undefined && this.#reportStatus(text, line)) || (reported && sink === undefined);
    }
    const bold = /^\s*(?:\*\*|__)([^*_]+)(?:\*\*|__)\s*[:：]?/.exec(text);
    if (bold !== null) {
      const [opening, name = ''] = bold;
      const value = text.slice(opening.length);
      const head = readHead(name.replace(/[:：]\s*$/, ''), false, this.#legend);
      const mark = head.phase || head.certain ? readStatus(value, this.#legend) : undefined;
      // In the body of Phase 1, `**Phase 1 Status**: …` is a field.
      if (
        mark !== undefined &&
        head.id !== undefined &&
        !(sink !== undefined && /\bstatus$/i.test(head.text))
      ) {
        const draft = newDraft(line, 'list', head, { under: this.#heading });
        this.findings.mentions.push({ line, from: 'list', draft, mark });
        return true;
      }
    }
    if (sink !== undefined) {
      this.#reportMark(text, line, sink.otherwise);
      return false;
    }
    return this.#reportStatus(text, line) || this.#reportMark(text, line, this.findings.problems);
  }

  #reportMark(line: string, at: number, problems: TaskProblem[]): boolean {
    const text = line.trim().slice(bulletOf(line.trim()).length);
    const emoji = leadingMark(text);
    if (emoji === undefined) return false;
    const shown = text.slice(0, emoji.length).trim();
    const message = `${shown} opens a line that names no task; make it a list item with a number or a checkbox`;
    problems.push(problem('mark_without_id', at, message));
    return true;
  }

  #reportStatus(text: string, line: number): boolean {
    const field = readField(text);
    if (field?.key !== 'status') return false;
    const message = `the status "${field.value.slice(0, 60)}" stands below no task`;
    this.findings.problems.push(problem('mark_without_id', line, message));
    return true;
  }

  /** A box that Markdown does not see belongs under the last less indented task. */
  #addTextBox(text: string, line: number, before: Draft | undefined): Draft | undefined {
    const indent = this.#indentOf(line);
    let parent = before;
    while (parent !== undefined && this.#indentOf(parent.line) >= indent) parent = parent.owner;
    const bullet = bulletOf(text);
    const ordinal = /^\s*(\d+)/.exec(bullet)?.[1];
    const head = readHead(text.slice(bullet.length), bullet.trim() !== '', this.#legend);
    return this.#addBox(head, line, ordinal === undefined ? undefined : Number(ordinal), parent);
  }

  #indentOf(line: number): number {
    return (/^[\s>]*/.exec(this.#lines[line] ?? '')?.[0] ?? '').replaceAll('\t', '    ').length;
  }

  /** Returns lines as written, without the marks of a quote: their indentation shows what belongs together. */
  #raw({ start, end }: { readonly start: number; readonly end: number }): string[] {
    return this.#lines.slice(start, end).map((line) => line.replace(QUOTE_MARKS, '').trimEnd());
  }

  /** Collects descriptive lines. */
  #addDetails(sink: Draft | undefined, at: number, lines: readonly string[]): void {
    if (this.#heading?.isLegend) return;
    const planned = this.#planned;
    const isOfPlanned = planned !== undefined && planned.draft.line < at && at < planned.end;
    const heading = this.#heading;
    if (sink?.origin === 'heading' && heading !== undefined && heading.draft !== sink) {
      if (heading !== this.#told) sink.details.push(`${heading.text}:`);
      this.#told = heading;
    }
    for (const line of lines) {
      if (line.trim() === '') continue;
      sink?.details.push(line);
      if (isOfPlanned) planned.draft.details.push(line);
      this.#opensList = OPENS_LIST.test(line) ? sink : undefined;
    }
  }

  /** Removes a line that introduced a list of tasks. */
  #endDetails(): void {
    this.#opensList?.details.pop();
    this.#opensList = undefined;
  }

  #addLine(
    sink: Draft,
    text: string,
    line: number,
    block: Lines,
    item: Container | undefined,
    raw: readonly string[],
  ): void {
    const field = readField(text);
    const isLast = line + 1 >= block.end;
    if (isLast && (field === undefined ? namesPrompt(text) : field.key === 'prompt' && field.value === '')) {
      this.#asks = { draft: sink, takes: 'block' };
      return;
    }
    if (field === undefined) {
      this.#addDetails(sink, line, raw);
      return;
    }
    let value = field.value;
    const stop = (next: string): boolean => /^#{1,6}\s/.test(next) || opensWithBox(next, this.#legend);
    if (field.state === 'open') {
      const end = item?.end ?? this.#lines.length;
      const span = followSpan(this.#lines, line, end, value, item === undefined ? stop : () => false);
      if (!span.closed) {
        this.findings.problems.push(
          problem('unclosed_field', line, `"${text.trim().slice(0, 40)}" has no closing underscore`),
        );
      }
      if (span.closed || field.key === 'prompt') {
        value = span.value;
        this.#taken = span.end;
      }
    } else if (field.key === 'prompt' && field.state === 'plain') {
      const end = item?.end ?? block.end;
      value = join(value, this.#lines.slice(line + 1, end));
      this.#taken = end;
    }
    const isKnown = applyField(sink, { ...field, value }, line, this.#legend);
    // A name without a value introduces a list.
    const opensList = value === '' && field.key !== 'prompt';
    if (!isKnown || opensList || field.key === 'told') {
      this.#addDetails(sink, line, [...raw, ...this.#lines.slice(line + 1, this.#taken)]);
    }
    if (isKnown) return;
    this.findings.problems.push(
      problem('unknown_mark', line, `"${value.slice(0, 60)}" is not a known status`),
    );
  }

  #addBox(
    head: Head,
    line: number,
    ordinal: number | undefined,
    owner: Draft | undefined,
  ): Draft | undefined {
    if (this.#heading?.isLegend) {
      this.findings.problems.push(problem('not_a_task', line, 'a checkbox in a legend'));
      return undefined;
    }
    this.#endDetails();
    const draft = newDraft(line, 'checkbox', head, { ordinal, owner, under: this.#heading });
    this.findings.drafts.push(draft);
    return draft;
  }

  /** Returns the task whose body contains the line: by nesting, else the nearest heading that may be one. */
  #sink(owner: Draft | undefined): Draft | undefined {
    if (owner !== undefined) return owner;
    let heading = this.#heading;
    while (heading !== undefined && heading.draft === undefined) heading = heading.outer;
    return heading?.draft;
  }
}
