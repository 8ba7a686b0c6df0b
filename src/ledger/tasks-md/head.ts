import { findId, narrow } from './ids.js';
import { BARE_EMOJI, boxMark, type Legend, leadingMark, type Mark } from './marks.js';
import { type Stated, statedAtEnd, statedAtStart } from './stated.js';

/** The parsed line of a possible task. */
export interface Head {
  /** `unknown` is an unrecognized content, read as pending. */
  readonly box?: { readonly mark: Mark; readonly unknown?: string | undefined } | undefined;
  /** A status before or after the text: an emoji, `[IN PROGRESS]`, `(COMPLETED)`. */
  readonly mark?: Mark | undefined;
  readonly leads: boolean;
  /** The status as written; without `mark` it is unknown. */
  readonly stated?: Stated | undefined;
  readonly id?: string | undefined;
  readonly certain: boolean;
  /** For example `Phase 3`. */
  readonly phase: boolean;
  readonly text: string;
  readonly optional: boolean;
  readonly struck: boolean;
}

const MARKER = '(?:[-*+•・●○▪‣–—]|\\d{1,9}[.)])';
const BULLET = new RegExp(`^[\\s>]*(?:${MARKER}\\s+){0,3}(?:${MARKER}\\s*)?`);
const BOX = /^\\?\[([^[\]\\]{0,12})\\?\](\*(?=\s|$))?/;
const HAS_BOX = /[[［【]/;
const WRAP = /^(\*\*|__|~~|`)/;
const LABEL = /^(?:\[(?!T(?:ASK)?-?\d)([A-Z][A-Za-z0-9_-]{0,15})\]|\((P)\))(?!\()\s*/;
const TRAILING_LABEL = /\s(?:\[([A-Z]{1,3}\d{0,3})\]|\((P)\))$/;
const OPTIONAL = /[([](?:optional|可选|可選|任意|オプション)[)\]]/gi;

/** Returns the list marker with its blanks, including markers that Markdown does not know. */
export function bulletOf(line: string): string {
  return BULLET.exec(narrow(line))?.[0] ?? '';
}

/** A box opens a task even where Markdown sees no list item. */
export function opensWithBox(line: string, legend: Legend): boolean {
  if (!HAS_BOX.test(line)) return false;
  const flat = narrow(line);
  const bullet = bulletOf(flat);
  return readBox(flat.slice(bullet.length), bullet.trim() !== '', legend) !== undefined;
}

/** Reads a line without its list marker (`bulleted` if it had one) or its heading hashes. */
export function readHead(line: string, bulleted: boolean, legend: Legend): Head {
  let raw = line.trim();
  let flat = narrow(raw);
  const isNarrow = flat === raw;
  const skip = (length: number): void => {
    if (length === 0) return;
    raw = raw.slice(length).trimStart();
    flat = isNarrow ? raw : flat.slice(length).trimStart();
  };
  let optional = false;
  let struck = false;
  let stated: Stated | undefined;

  const box = readBox(flat, bulleted, legend);
  if (box !== undefined) {
    skip(box.length);
    optional = box.star;
    if (/^\*\s/.test(flat)) {
      optional = true;
      skip(1);
    }
  }
  const takeMark = (): void => {
    const leading = statedAtStart(flat);
    const emoji = leading === undefined ? leadingMark(flat) : undefined;
    if (emoji !== undefined) {
      const shown = flat.slice(0, emoji.length).trim();
      stated ??= { mark: emoji.mark, shown, length: 0, strong: !BARE_EMOJI.has(shown.replace('\uFE0F', '')) };
      skip(emoji.length);
    } else if (leading !== undefined) {
      stated ??= leading;
      skip(leading.length);
    }
  };
  const takeLabels = (): void => {
    const first = flat.charAt(0);
    if (first !== '[' && first !== '(') return;
    for (let found = LABEL.exec(flat); found !== null; found = LABEL.exec(flat)) skip(found[0].length);
  };
  takeMark();
  takeLabels();

  const wrap = '*_~`'.includes(flat.charAt(0)) ? WRAP.exec(flat)?.[0] : undefined;
  const inside = wrap === undefined ? flat : flat.slice(wrap.length);
  const marked = wrap === '**' && stated === undefined ? leadingMark(inside) : undefined;
  if (marked !== undefined) {
    // `1. **✅ Database migration**`: the mark is inside the bold text.
    const shown = inside.slice(0, marked.length).trim();
    stated = { mark: marked.mark, shown, length: 0, strong: true };
    raw = raw.slice(0, 2) + raw.slice(2 + marked.length);
    flat = flat.slice(0, 2) + flat.slice(2 + marked.length);
  }
  const leads = stated !== undefined;
  const found = findId(wrap === undefined ? flat : flat.slice(wrap.length), wrap !== undefined);
  if (wrap === '~~') struck = true;
  if (wrap !== undefined && (found !== undefined || struck || marked !== undefined)) {
    skip(wrap.length);
    const close = flat.indexOf(wrap, found?.id.length ?? 0);
    if (close !== -1) {
      raw = raw.slice(0, close) + raw.slice(close + wrap.length);
      flat = flat.slice(0, close) + flat.slice(close + wrap.length);
    }
  }
  if (found !== undefined) {
    skip(found.length);
    if (/^\*\s/.test(flat)) {
      optional = true;
      skip(1);
    }
    takeLabels();
    takeMark();
    skip(/^(?:[:.、]|(?:[-–—]|--)\s)/.exec(flat)?.[0].length ?? 0);
  }
  const takeTrailing = (): boolean => {
    const trailing = statedAtEnd(flat);
    if (trailing === undefined || (!trailing.strong && found === undefined)) return false;
    stated = stated?.mark === undefined || trailing.length === 0 ? (stated ?? trailing) : stated;
    if (trailing.length === 0) return false;
    raw = raw.slice(0, raw.length - trailing.length).trimEnd();
    flat = flat.slice(0, flat.length - trailing.length).trimEnd();
    return true;
  };
  // `(DONE) ✅` has two.
  if (takeTrailing()) takeTrailing();
  for (let length = trailingLabel(raw); length > 0; length = trailingLabel(raw)) {
    raw = raw.slice(0, raw.length - length).trimEnd();
  }
  return {
    box,
    mark: stated?.mark,
    stated,
    leads,
    id: found?.id,
    certain: found?.certain ?? false,
    phase: found?.phase ?? false,
    text: raw.trim(),
    optional: optional || saysOptional(raw),
    struck,
  };
}

function saysOptional(text: string): boolean {
  if (!/[([（［]/.test(text)) return false;
  const flat = narrow(text);
  const found = [...flat.matchAll(OPTIONAL)];
  const last = found.at(-1);
  if (last === undefined) return false;
  return found[0]?.index === 0 || !/\w/.test(flat.slice(last.index + last[0].length));
}

function trailingLabel(text: string): number {
  if (!text.endsWith(']') && !text.endsWith(')')) return 0;
  return TRAILING_LABEL.exec(text.slice(-10))?.[0].length ?? 0;
}

interface FoundBox {
  readonly mark: Mark;
  readonly unknown?: string | undefined;
  readonly star: boolean;
  readonly length: number;
}

/**
 * `[x]` needs no blank after it, unless it would be a link. An unknown content is a box only after a bullet and with
 * one character: `[US1]` and `[P]` are labels, `[1]` is a footnote.
 */
function readBox(flat: string, bulleted: boolean, legend: Legend): FoundBox | undefined {
  const first = flat.charAt(0);
  const found = first === '[' || first === '\\' ? BOX.exec(flat) : null;
  if (found === null) return undefined;
  const [{ length }, content = '', star] = found;
  const after = flat.slice(length);
  if (/^[([:]/.test(after)) return undefined;
  const mark = boxMark(content, legend);
  if (mark !== undefined) {
    if (!bulleted && after !== '' && !/^\s/.test(after)) return undefined;
    return { mark, star: star !== undefined, length };
  }
  const unknown = content.trim();
  if (!bulleted || !/^[^P\p{N}]\uFE0F?$/u.test(unknown) || !/^(?:\s|$)/.test(after)) return undefined;
  return { mark: { status: 'pending' }, unknown, star: star !== undefined, length };
}
