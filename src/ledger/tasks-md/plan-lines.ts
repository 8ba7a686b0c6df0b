import { narrow } from './task-ids.js';

/** Splits a plan into lines with their indentation, from which nesting follows, whatever Markdown makes of them. */

type LineKind =
  | 'blank'
  | 'heading'
  | 'item'
  /** Of a table. */
  | 'row'
  | 'text'
  | 'fence'
  | 'code';

export interface PlanLine {
  readonly kind: LineKind;
  /** Columns before the text, or before the marker of an item. */
  readonly indent: number;
  /** Without indentation, quote marks, list markers and heading hashes. */
  readonly text: string;
  /** As written, without quote marks. */
  readonly raw: string;
  /** 1 to 6 for a heading, else 0. */
  readonly level: number;
  /** Of an ordered list item. */
  readonly number?: number;
}

const QUOTE_MARKS = /^([ \t]*)(?:>[ \t]?)+/;
const HEADING = /^(#{1,6})(?:[ \t]+|$)/;
const CLOSING_HASHES = /(?:^|[ \t])#+$/;
const FENCE = /^(`{3,}|~{3,})/;
const RULE = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)$/;
/** Includes markers that Markdown does not know. A box needs no blank before it. */
const MARKER = /^(?:[-*+•・●○▪‣–—]|(\d{1,9})[.)])(?:\s+|$|(?=\\?[[［【]))/;
const MAX_MARKERS = 4;

export function readLines(source: readonly string[]): PlanLine[] {
  const lines: PlanLine[] = [];
  const lastEnd = source.findLastIndex((line) => line.includes('-->'));
  let fence: string | undefined;
  let isComment = false;
  for (const [at, whole] of source.entries()) {
    const raw = whole.replace(QUOTE_MARKS, '$1').trimEnd();
    const text = raw.trimStart();
    const indent = raw.slice(0, raw.length - text.length).replaceAll('\t', '    ').length;
    const plain = { indent, text, raw, level: 0 };
    if (fence !== undefined) {
      const closes = text.startsWith(fence) && text.replaceAll(fence.charAt(0), '') === '';
      lines.push({ ...plain, kind: closes ? 'fence' : 'code' });
      if (closes) fence = undefined;
      continue;
    }
    const isHidden = isComment || (text.startsWith('<!--') && at <= lastEnd);
    if (isHidden) isComment = !text.includes('-->');
    if (isHidden || text === '' || RULE.test(text)) {
      lines.push({ ...plain, kind: 'blank', text: '' });
      continue;
    }
    const opened = FENCE.exec(text)?.[1];
    if (opened !== undefined && !(opened.startsWith('`') && text.includes('`', opened.length))) {
      fence = opened;
      lines.push({ ...plain, kind: 'fence' });
      continue;
    }
    lines.push(readLine(plain));
  }
  return lines;
}

function readLine(plain: Omit<PlanLine, 'kind'>): PlanLine {
  const { text, raw, indent } = plain;
  // The hashes of a quoted or indented line open no section.
  const level = indent === 0 ? (HEADING.exec(raw)?.[1]?.length ?? 0) : 0;
  if (level > 0) {
    return { ...plain, kind: 'heading', level, text: text.slice(level).trim().replace(CLOSING_HASHES, '') };
  }
  if (text.startsWith('|')) return { ...plain, kind: 'row' };
  let flat = narrow(text);
  let from = 0;
  let number: number | undefined;
  for (let count = 0; count < MAX_MARKERS; count += 1) {
    const marker = MARKER.exec(flat);
    if (marker === null) break;
    from += marker[0].length;
    flat = flat.slice(marker[0].length);
    number = marker[1] === undefined ? undefined : Number(marker[1]);
  }
  if (from === 0) return { ...plain, kind: 'text' };
  return { ...plain, kind: 'item', text: text.slice(from), ...(number !== undefined && { number }) };
}

export function dedent(lines: readonly string[]): string[] {
  let common = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const { length } = line.trimStart();
    if (length > 0) common = Math.min(common, line.length - length);
  }
  return lines.map((line) => line.slice(Math.min(common, line.length)).trimEnd());
}

export function cellsOf(row: string): string[] {
  return row
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}
