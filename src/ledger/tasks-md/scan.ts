import { type Block, type Container, type Lines, readBlocks } from './blocks.js';
import { applyField, type Draft, type Findings, type Heading, newDraft, problem } from './draft.js';
import { readField } from './fields.js';
import { bulletOf, type Head, opensWithBox, readHead } from './head.js';
import { reportFence, uncomment } from './hidden.js';
import { outerId } from './ids.js';
import { isLegendHeading } from './legend.js';
import type { Legend } from './marks.js';
import { followSpan, join } from './prompt-span.js';
import { scanTable } from './table.js';
import { reportUnboxed } from './unboxed.js';

/** Walks the document once and collects what may be a task, what names one, and what could not be placed. */
export function scan(lines: readonly string[], legend: Legend): Findings {
  const scanner = new Scanner(lines, legend);
  scanner.walk(readBlocks(lines), undefined);
  return scanner.findings;
}

class Scanner {
  readonly findings: Findings = { drafts: [], headings: [], mentions: [], problems: [] };
  readonly #lines: readonly string[];
  readonly #legend: Legend;
  #heading: Heading | undefined;
  /** Lines before this one were taken by a prompt. */
  #taken = 0;

  constructor(lines: readonly string[], legend: Legend) {
    this.#lines = lines;
    this.#legend = legend;
  }

  walk(container: Container, owner: Draft | undefined): void {
    if (!this.#heading?.isLegend) {
      reportUnboxed(container.children, this.#taken, this.#legend, this.findings.problems);
    }
    for (const block of container.children) this.#visit(block, container, owner);
  }

  #visit(block: Block, container: Container, owner: Draft | undefined): void {
    if (block.kind !== 'item' && block.kind !== 'quote' && block.kind !== 'root' && block.end <= this.#taken)
      return;
    switch (block.kind) {
      case 'item':
        this.#visitItem(block, owner);
        return;
      case 'root':
      case 'quote':
        this.walk(block, owner);
        return;
      case 'heading':
        // Inside an item or a quote it opens no section.
        if (container.kind === 'root' && block.lines.length === 1) this.#visitHeading(block);
        else this.#visitLines(block, 0, container, owner);
        return;
      case 'paragraph':
        this.#visitLines(block, 0, container, owner);
        return;
      case 'code':
      case 'html': {
        const shown = block.kind === 'html' ? uncomment(block, this.#legend, this.findings.problems) : block;
        const isTasks = shown.lines.some((line) => opensWithBox(line, this.#legend));
        if (isTasks) this.#visitLines(shown, 0, container, owner);
        return;
      }
      case 'fence':
        reportFence(block, this.#lines, this.#legend, this.findings.problems);
        return;
      case 'table':
        scanTable(block, this.#heading, this.#legend, this.findings);
        return;
    }
  }

  #visitHeading({ start, level, lines: [text = ''] }: Lines): void {
    while (this.#heading !== undefined && this.#heading.level >= level) this.#heading = this.#heading.outer;
    const outer = this.#heading;
    const head = readHead(text, false, this.#legend);
    const isTask = head.box !== undefined || head.id !== undefined;
    this.#heading = {
      line: start,
      level,
      text: text.trim(),
      isLegend: isLegendHeading(text) || (outer?.isLegend ?? false),
      ...(outer !== undefined && { outer }),
      ...(isTask && { draft: newDraft(start, 'heading', head, { under: outer }, this.#legend) }),
    };
    this.findings.headings.push(this.#heading);
  }

  #visitItem(item: Container, owner: Draft | undefined): void {
    const [first, ...rest] = item.children;
    if (first?.kind !== 'paragraph' || first.start !== item.start || first.start < this.#taken) {
      this.walk(item, owner);
      return;
    }
    const head = readHead(first.lines[0] ?? '', true, this.#legend);
    if (head.box === undefined) {
      this.#visitItemText(first, head, item, owner);
      for (const block of rest) this.#visit(block, item, owner);
      return;
    }
    const draft = this.#addBox(head, first.start, item.ordinal, owner);
    this.#visitLines(first, 1, item, draft ?? owner);
    for (const block of rest) this.#visit(block, item, draft ?? owner);
  }

  /** An item without a box: a field of a task, a mention of one, or text. */
  #visitItemText(paragraph: Lines, head: Head, item: Container, owner: Draft | undefined): void {
    const line = paragraph.start;
    // In the body of a task named by a heading, a bare mark or number is part of that body.
    const inBody = owner !== undefined || this.#sink(owner)?.head.certain === true;
    const own = head.id ?? (inBody || item.ordinal === undefined ? undefined : String(item.ordinal));
    const isField = readField(paragraph.lines[0] ?? '') !== undefined;
    if (!isField && !this.#heading?.isLegend) {
      if (owner === undefined && head.mark !== undefined && own !== undefined) {
        const draft = newDraft(line, 'list', { ...head, id: own }, { under: this.#heading }, this.#legend);
        this.findings.mentions.push({ line, from: 'list', draft, mark: head.mark });
      } else if (!inBody && head.mark !== undefined) {
        const message = 'a status mark without id or checkbox; add one to make it a task';
        this.findings.problems.push(problem('mark_without_id', line, message));
      } else if (
        head.id !== undefined &&
        (owner === undefined ? head.certain : outerId(head.id) === owner.head.id)
      ) {
        const draft = newDraft(line, 'list', head, { under: this.#heading }, this.#legend);
        this.findings.mentions.push({ line, from: 'list', draft });
      }
    }
    this.#visitLines(paragraph, 0, item, owner);
  }

  /** Lines of text: boxes that Markdown does not see, fields, and the rest. */
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
      const sink = this.#sink(last ?? owner);
      if (sink !== undefined) this.#addLine(sink, text, line, block, index === 0 ? container : undefined);
    }
  }

  /** A box that Markdown does not see lies under the last task before it that is less indented. */
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

  #addLine(sink: Draft, text: string, line: number, block: Lines, item: Container | undefined): void {
    const field = readField(text);
    if (field === undefined) {
      sink.details.push(text.trim());
      return;
    }
    let value = field.value;
    const holder = item?.kind === 'item' ? item : undefined;
    const stop = (next: string): boolean => /^#{1,6}\s/.test(next) || opensWithBox(next, this.#legend);
    if (field.state === 'open') {
      const end = holder?.end ?? this.#lines.length;
      const span = followSpan(this.#lines, line, end, value, holder === undefined ? stop : () => false);
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
      const end = holder?.end ?? block.end;
      value = join(value, this.#lines.slice(line + 1, end));
      this.#taken = end;
    }
    if (applyField(sink, { ...field, value }, line, this.#legend)) return;
    sink.details.push(text.trim());
    this.findings.problems.push(problem('unknown_marker', line, `"${value}" is not a known status`));
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
    const draft = newDraft(line, 'checkbox', head, { ordinal, owner, under: this.#heading }, this.#legend);
    this.findings.drafts.push(draft);
    return draft;
  }

  /** The task to whose body a line belongs: by nesting, else the nearest heading that may be one. */
  #sink(owner: Draft | undefined): Draft | undefined {
    if (owner !== undefined) return owner;
    let heading = this.#heading;
    while (heading !== undefined && heading.draft === undefined) heading = heading.outer;
    return heading?.draft;
  }
}
