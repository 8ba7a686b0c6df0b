import {
  boxMark,
  DECORATION,
  type Legend,
  leadingMark,
  type Mark,
  markOfEmoji,
  wholeWord,
} from './status-words.js';
import { findId, narrow } from './task-ids.js';

export interface TaskLine {
  /** `unknown` is an unrecognized content, read as pending. */
  readonly box?: { readonly mark: Mark; readonly unknown?: string | undefined } | undefined;
  /** A status before or after the text: an emoji, `[IN PROGRESS]`, `(COMPLETED)`. */
  readonly stated?: Stated | undefined;
  /** True if the status comes before the text. */
  readonly leads: boolean;
  readonly id?: string | undefined;
  /** True for a form that only tasks have, such as `T001`. */
  readonly certain: boolean;
  /** True for `Phase 3` and the like. */
  readonly phase: boolean;
  readonly text: string;
  readonly bold: boolean;
  readonly optional: boolean;
  readonly struck: boolean;
}

export interface Stated {
  /** Undefined for an unknown status. */
  readonly mark?: Mark | undefined;
  /** As written, for a report. */
  readonly shown: string;
  /** In code units, with the blanks between it and the text. */
  readonly length: number;
  /** False for an emoji that may be decoration. */
  readonly strong: boolean;
}

const WRAP = /^(?:\*\*|__|~~|`)/;
/** `[P]` and `[US1]` of spec-kit, `(P)`; not `[T040]`, which is an id. */
const LABEL = /^(?:\[(?!T(?:ASK)?-?\d)[A-Z][A-Za-z0-9_-]{0,15}\]|\(P\))(?!\()\s*/;
const TRAILING_LABEL = /\s(?:\[[A-Z]{1,3}\d{0,3}\]|\(P\))$/;
/** At either end of the text. */
const OPTIONAL =
  /^[([](?:optional|可选|可選|任意|オプション)[)\]]|[([](?:optional|可选|可選|任意|オプション)[)\]]\W{0,8}$/i;

/** True for a line that opens with a check box, also without a list marker. */
export function opensWithBox(text: string, bulleted: boolean, legend: Legend): boolean {
  return /^\\?[[［【]/.test(text) && readBox(narrow(text), bulleted, legend) !== undefined;
}

/** Reads a line without its list marker (`bulleted` if it had one) or its heading hashes. */
export function readTaskLine(line: string, bulleted: boolean, legend: Legend): TaskLine {
  let raw = line.trim();
  // The same length as `raw`, in ASCII where a full-width character has an equivalent.
  let flat = narrow(raw);
  const skip = (length: number): void => {
    raw = raw.slice(length).trimStart();
    flat = flat.slice(length).trimStart();
  };
  const cut = (at: number, length: number): void => {
    raw = raw.slice(0, at) + raw.slice(at + length);
    flat = flat.slice(0, at) + flat.slice(at + length);
  };
  const shorten = (length: number): void => {
    raw = raw.slice(0, raw.length - length).trimEnd();
    flat = flat.slice(0, raw.length);
  };
  let stated: Stated | undefined;
  const takeMark = (): void => {
    const found = statedAtStart(flat);
    if (found === undefined) return;
    stated ??= found;
    skip(found.length);
  };
  const takeLabels = (): void => {
    for (let found = LABEL.exec(flat); found !== null; found = LABEL.exec(flat)) skip(found[0].length);
  };

  const box = readBox(flat, bulleted, legend);
  if (box !== undefined) skip(box.length);
  takeMark();
  takeLabels();
  const wrap = WRAP.exec(flat)?.[0] ?? '';
  // `1. **✅ Database migration**`: the mark is inside the bold text.
  const inside = wrap === '**' && stated === undefined ? statedAtStart(flat.slice(2)) : undefined;
  if (inside !== undefined) cut(2, inside.length);
  stated ??= inside;
  const leads = stated !== undefined;
  const found = findId(flat.slice(wrap.length), wrap !== '');
  if (wrap !== '' && (found !== undefined || inside !== undefined || wrap === '~~')) {
    const close = flat.indexOf(wrap, wrap.length + (found?.id.length ?? 0));
    if (close !== -1) cut(close, wrap.length);
    skip(wrap.length);
  }
  if (found !== undefined) {
    skip(found.length);
    takeLabels();
    takeMark();
    skip(/^(?:[:.、]|(?:[-–—]|--)\s)/.exec(flat)?.[0].length ?? 0);
  }
  const trailing = statedAtEnd(flat);
  if (trailing !== undefined && (trailing.strong || found !== undefined)) {
    stated = stated?.mark === undefined ? trailing : stated;
    shorten(trailing.length);
  }
  const labelAtEnd = (): number => TRAILING_LABEL.exec(raw.slice(-10))?.[0].length ?? 0;
  for (let label = labelAtEnd(); label > 0; label = labelAtEnd()) shorten(label);
  return {
    box,
    stated,
    leads,
    id: found?.id,
    certain: found?.certain ?? false,
    phase: found?.phase ?? false,
    text: raw.trim(),
    bold: wrap === '**',
    optional: box?.star === true || OPTIONAL.test(narrow(raw)),
    struck: wrap === '~~',
  };
}

const BOX = /^\\?\[([^[\]\\]{0,12})\\?\](\*(?=\s|$))?/;

/**
 * `[x]` needs no blank after it, unless it would be a link. An unknown content is a box only after a bullet and with
 * one character: `[US1]` and `[P]` are labels, `[1]` is a footnote.
 */
function readBox(flat: string, bulleted: boolean, legend: Legend) {
  const found = BOX.exec(flat);
  if (found === null) return undefined;
  // `- [ ]* 2.2` is optional.
  const [{ length }, content = '', star] = found;
  const after = flat.slice(length, length + 1);
  if ('([:'.includes(after) && after !== '') return undefined;
  const isApart = after.trim() === '';
  const known = boxMark(content, legend);
  const unknown = known === undefined ? content.trim() : undefined;
  const isBox =
    unknown === undefined ? bulleted || isApart : bulleted && isApart && /^[^P\p{N}]\uFE0F?$/u.test(unknown);
  return isBox
    ? { mark: known ?? { status: 'pending' }, unknown, star: star !== undefined, length }
    : undefined;
}

function statedAtStart(text: string): Stated | undefined {
  const emoji = leadingMark(text);
  if (emoji === undefined) return undefined;
  const shown = text.slice(0, emoji.length).trim();
  return { ...emoji, shown, strong: !DECORATION.has(shown.replace('\uFE0F', '')) };
}

/** Words that in parentheses and small letters are a status, not a remark such as `(new)` or `(open source)`. */
const PLAIN_STATUS = /^(?:done|completed?|finished|in[ -]progress|wip|blocked|cancell?ed|todo|not started)$/i;
const SHOUTED_WORD = /^[A-Z]{2}[A-Z' _-]*/;
/** A label such as `[US1]` has at most three letters. */
const UNKNOWN_STATUS = /^[A-Z]{4,}(?:[ _-][A-Z]{2,})*$/;
const PICTURE = /\p{Extended_Pictographic}\uFE0F?/u;
const PICTURE_AT_END = /\p{Extended_Pictographic}\uFE0F?$/u;
const AFTER_MARK =
  /\s(?:(\p{Extended_Pictographic})\uFE0F?|[-–—]{1,2})\s?([^\p{Extended_Pictographic}–—]{0,30})$/u;

/** Reads the end of a narrowed, trimmed text: `[IN PROGRESS]`, `(COMPLETED)`, `✅ COMPLETE`, `- DONE`, ✅. */
function statedAtEnd(text: string): Stated | undefined {
  const end = text.endsWith('**') ? text.length - 2 : text.length;
  const whole = text.slice(0, end);
  const found = inBrackets(whole) ?? afterMark(whole);
  return found && { ...found, length: found.length + text.length - end };
}

function inBrackets(text: string): Stated | undefined {
  const close = text.charAt(text.length - 1);
  if (close !== ']' && close !== ')') return undefined;
  const open = text.lastIndexOf(close === ']' ? '[' : '(');
  if (open < 1 || text.length - open > 44) return undefined;
  const shown = text.slice(open);
  const phrase = shown.slice(1, -1).replace(PICTURE, '').trim();
  const shouted = SHOUTED_WORD.exec(phrase)?.[0].trim() ?? '';
  const isStatus =
    close === ']' || phrase === '' || PLAIN_STATUS.test(phrase) || !/^[a-z]|^[A-Z][a-z]/.test(phrase);
  const mark =
    phrase === '' ? markOfEmoji(shown.slice(1, -1).trim()) : (wholeWord(phrase) ?? wholeWord(shouted));
  const before = text.slice(0, open).trimEnd().replace(PICTURE_AT_END, '').trimEnd();
  const length = text.length - before.length;
  if (mark !== undefined && isStatus && phrase.length !== 1) return { mark, shown, length, strong: true };
  return close === ']' && UNKNOWN_STATUS.test(phrase) ? { shown, length, strong: true } : undefined;
}

function afterMark(text: string): Stated | undefined {
  const found = AFTER_MARK.exec(text.slice(-40));
  if (found === null) return undefined;
  const [shown, picture, words = ''] = found;
  const plainWords = words.replaceAll('*', '').trim();
  const isShouted = SHOUTED_WORD.test(plainWords);
  const word = isShouted || picture !== undefined ? wholeWord(plainWords) : undefined;
  const mark = plainWords === '' ? markOfEmoji(picture ?? '') : word;
  if (mark === undefined) return undefined;
  const length = text.length - text.slice(0, text.length - shown.length).trimEnd().length;
  return { mark, shown: shown.trim(), length, strong: plainWords !== '' || !DECORATION.has(picture ?? '') };
}
