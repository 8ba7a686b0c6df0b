import { jsonrepair } from 'jsonrepair';
import type { ErrorCode } from '../error-codes.js';
import { messageOf } from '../errors.js';
import { kindOf, ROLES, type VerdictField } from '../kinds.js';
import { BEGIN, END, FENCE } from './last-result.js';
import { Repairs, WHOLE } from './repairs.js';

/**
 * Finds the JSON of a result in a body: the body itself, the text between one pair of markers, or the only fenced
 * block. Repairs invalid JSON once.
 */

const OPENING_FENCE = /^```[a-z0-9]*\s*$/i;

/** Marks truncated text. */
export const CUT = '…';

/** Changes the parsed value before it is checked; also receives the text. */
export type Cleaning = (json: unknown, text: string) => unknown;

export type FoundJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly json: string;
      readonly repairs?: Repairs;
      /** The invalid text and what was wrong with it. */
      readonly broken?: { readonly text: string; readonly reason: string };
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string; readonly fix: string };

const SEND_ONE = 'send one whole JSON object';
const PAIR = `one ${BEGIN} … ${END} pair`;

export function findJson(text: string, clean: Cleaning): FoundJson {
  if (text === '') return { ok: false, code: 'marker_missing', reason: 'the body is empty', fix: SEND_ONE };
  const hasMarker = () => text.includes(BEGIN) || text.includes(END);
  if (text.startsWith('{')) {
    const whole = parsed(text, clean);
    // Raw text may begin with a brace too: only a body without markers must be JSON.
    if (whole !== undefined) return whole;
    if (!hasMarker()) return inText(text, clean);
  }
  if (!hasMarker()) return withoutMarkers(text, clean);
  const begins = text.split(BEGIN).length - 1;
  const ends = text.split(END).length - 1;
  const from = text.indexOf(BEGIN) + BEGIN.length;
  const to = text.indexOf(END);
  if (begins === 1 && ends === 0) {
    const whole = wholeObject(text.slice(from), clean);
    if (whole !== undefined) return whole;
  }
  if (begins !== 1 || ends !== 1 || to < from) {
    const several = begins > 1 && begins === ends ? `${severalResults(begins).reason}; ` : '';
    const reason = `${several}expected exactly ${PAIR}, found ${begins} and ${ends}`;
    return {
      ok: false,
      code: 'marker_missing',
      reason,
      fix:
        several !== ''
          ? 'send each result on its own'
          : `keep exactly ${PAIR}, around the result that counts`,
    };
  }
  const inner = unfenced(text.slice(from, to).trim());
  return parsed(inner, clean) ?? inText(inner, clean);
}

function withoutMarkers(text: string, clean: Cleaning): FoundJson {
  if (text.startsWith('[')) {
    const list = parsed(text, clean) ?? inText(text, clean);
    if (list.ok && Array.isArray(list.value) && list.value.length === 1) return list;
    if (list.ok && Array.isArray(list.value) && list.value.length > 1)
      return { ok: false, code: 'marker_missing', ...severalResults(list.value.length) };
  }
  const block = fencedBlock(text);
  if (block === undefined) {
    const reason = `the body is not a JSON object and holds no ${BEGIN} … ${END} pair`;
    return {
      ok: false,
      code: 'marker_missing',
      reason,
      fix: `send the JSON object alone, or between ${PAIR}`,
    };
  }
  const found = parsed(block, clean) ?? inText(block, clean);
  if (!found.ok) return found;
  const { repairs = new Repairs() } = found;
  repairs.note('around', WHOLE, 'found in a fenced block');
  return { ...found, repairs };
}

/** Reads the object after an opening marker without a closing one; the object shows whether it is truncated. */
function wholeObject(text: string, clean: Cleaning): FoundJson | undefined {
  const rest = text.slice(Math.max(text.indexOf('{'), 0), text.lastIndexOf('}') + 1);
  const found = parsed(rest, clean);
  if (!found?.ok) return undefined;
  const repairs = new Repairs();
  repairs.note('around', WHOLE, `${END} is missing`);
  return { ...found, repairs };
}

function severalResults(count: number) {
  const number = count === 2 ? 'two' : String(count);
  return { reason: `${number} results: send each on its own`, fix: 'send each result on its own' };
}

function parsed(text: string, clean: Cleaning): FoundJson | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { ok: true, value: clean(value, text), json: text };
}

/** Finds the object in text around it, or repairs it. */
function inText(text: string, clean: Cleaning): FoundJson {
  const { inner } = outermost(text);
  const repairs = new Repairs();
  if (inner !== undefined && inner !== text) {
    const found = parsed(inner, clean);
    if (found?.ok && typeof found.value === 'object') {
      repairs.note('around', WHOLE);
      return { ...found, repairs };
    }
  }
  // Redacts before repairing: unquoted text may become a name, and names are not redacted.
  const cleaned = String(clean(text, text));
  const reason = `the body is not JSON: ${whyNotJson(cleaned)}`;
  const { broken } = outermost(cleaned);
  const mended = broken === undefined ? { reason: '' } : mendedJson(broken);
  if (broken !== undefined && 'json' in mended) {
    const found = parsed(mended.json, clean);
    // With several values, the result is ambiguous.
    if (found?.ok && Array.isArray(found.value) && !text.startsWith('[') && found.value.length > 1)
      return { ok: false, code: 'json_parse_failed', ...severalResults(found.value.length) };
    if (found?.ok && typeof found.value === 'object' && Array.isArray(found.value) === text.startsWith('[')) {
      repairs.note('json', WHOLE);
      return { ...found, repairs, broken: { text: broken, reason } };
    }
  }
  const more = 'reason' in mended && mended.reason !== '' ? `; ${mended.reason}` : '';
  const fix = 'send one whole JSON object and nothing else';
  return { ok: false, code: 'json_parse_failed', reason: `${reason}${more}`, fix };
}

/** Returns the text from the first brace to the last, and the part to repair. */
function outermost(text: string): { readonly inner?: string; readonly broken?: string } {
  const opens = text.startsWith('[') ? 0 : text.indexOf('{');
  if (opens < 0) return {};
  const rest = text.slice(opens);
  const end = Math.max(rest.lastIndexOf('}'), rest.lastIndexOf(']')) + 1;
  if (end === 0) return { broken: withItsEndShown(rest) };
  const inner = rest.slice(0, end);
  const after = rest.slice(end);
  // A quote after the last brace belongs to truncated text; plain words are a comment on the result.
  return { inner, broken: after === '' || after.includes('"') ? withItsEndShown(rest) : inner };
}

/** Marks a truncated string, since half a path is a different path. */
function withItsEndShown(json: string): string {
  if (/[}\]]$/.test(json)) return json;
  let at = 0;
  let from = json.indexOf('"');
  while (from >= 0) {
    at = endOfString(json, from);
    from = json.indexOf('"', at);
  }
  return at > json.length ? `${json}${CUT}` : json;
}

/** The engine quotes the text that it cannot parse, so it gets the redacted one. */
function whyNotJson(cleaned: unknown): string {
  try {
    JSON.parse(String(cleaned));
    return 'the fault is inside a secret, which is not shown';
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Returns the inside of a fenced block. One regular expression for all of it would backtrack for hours on a hostile
 * body.
 */
function unfenced(text: string): string {
  const firstBreak = text.indexOf('\n');
  const fenced = OPENING_FENCE.test(text.slice(0, Math.max(0, firstBreak))) && text.endsWith(FENCE);
  return fenced ? text.slice(firstBreak + 1, -FENCE.length) : text;
}

/** Finds the only fenced JSON block with an object. A block without a language counts if it is the only one. */
function fencedBlock(text: string): string | undefined {
  if (!text.includes(FENCE)) return undefined;
  const blocks: { readonly language: string; readonly from: number; to: number }[] = [];
  let isOpen = false;
  let at = 0;
  for (const line of text.split('\n')) {
    const last = blocks.at(-1);
    if (line.trimStart().startsWith(FENCE)) {
      if (isOpen && last !== undefined) last.to = at;
      else
        blocks.push({
          language: line.trim().slice(FENCE.length).toLowerCase(),
          from: at + line.length + 1,
          to: -1,
        });
      isOpen = !isOpen;
    }
    at += line.length + 1;
  }
  if (isOpen) return undefined;
  const json = blocks.filter(({ language }) => /^json[c5]?$/.test(language));
  const [block, ...others] = json.length > 0 ? json : blocks.filter(({ language }) => language === '');
  if (block === undefined || others.length > 0 || (json.length === 0 && blocks.length > 1)) return undefined;
  const inner = text.slice(block.from, block.to).trim();
  return inner.startsWith('{') ? inner : undefined;
}

/** The keys that must be unambiguous, by verdict field. */
const CLEAR_KEYS = new Map(
  [undefined, ...ROLES.map((role) => kindOf(role).verdictField)].map((field) => [
    field,
    new RegExp(field === undefined ? '"task_id"' : `"(?:task_id|${field})"`, 'g'),
  ]),
);

/** A cheap check: most results name task and verdict once. */
export function mayRepeatKeys(json: string, verdictField: VerdictField | undefined): boolean {
  // A letter may be written as an escape.
  if (json.includes('\\u00')) return true;
  const keys = CLEAR_KEYS.get(verdictField);
  const most = verdictField === undefined ? 1 : 2;
  if (keys === undefined) return true;
  keys.lastIndex = 0;
  let found = 0;
  while (found <= most && keys.test(json)) found += 1;
  return found > most;
}

/** Returns the keys of the outermost object that occur with different values; parsing would keep the last. */
export function repeatedKeys(json: string): ReadonlySet<string> {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const outermost = json.trimStart().startsWith('[') ? 2 : 1;
  let depth = 0;
  let key: string | undefined;
  let from = -1;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') {
      const end = endOfString(json, at);
      if (depth === outermost && from < 0) key = unescaped(json.slice(at, end));
      at = end - 1;
    } else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    else if (sign === ':' && depth === outermost && from < 0) from = at + 1;
    const ends = depth < outermost || (depth === outermost && sign === ',');
    if (from < 0 || key === undefined || !ends) continue;
    const value = json.slice(from, at).trim();
    if ((values.get(key) ?? value) !== value) repeated.add(key);
    values.set(key, value);
    from = -1;
  }
  return repeated;
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name.slice(1, -1);
  try {
    return String(JSON.parse(name));
  } catch {
    return name;
  }
}

/** Returns the index after the closing quote of the string at `from`; more than the length if it is truncated. */
function endOfString(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return json.length + 1;
}

/**
 * Repairs invalid JSON: trailing commas, comments, single and curly quotes, Python's words, line breaks in strings,
 * truncation.
 */

/**
 * `jsonrepair` is quadratic for some texts. Within these limits the worst takes about 50 ms: length, characters at
 * which it may insert something, and nesting.
 */
export const MENDED = { characters: 32 * 1024, signs: 3072, depth: 64 } as const;

const SIGNS = /["'`´“”‘’/\n\r[{(+]|\d\s/g;
/** A backslash that is not a JSON escape, which the library would drop. */
const ESCAPE = /\\(?:["'`\\/bfnrt]|u[\da-f]{4})|\\/gi;

/** Returns the repaired text, or the reason why there is none. */
export function mendedJson(text: string): { readonly json: string } | { readonly reason: string } {
  if (text.length > MENDED.characters) return { reason: tooMuch(`${MENDED.characters} characters`) };
  if ((text.match(SIGNS) ?? []).length > MENDED.signs)
    return { reason: tooMuch(`${MENDED.signs} quotes and brackets`) };
  if (depthOf(text) > MENDED.depth) return { reason: tooMuch(`${MENDED.depth} brackets within each other`) };
  try {
    return { json: jsonrepair(text.replace(ESCAPE, (found) => (found.length > 1 ? found : '\\\\'))) };
  } catch {
    return { reason: 'it could not be mended' };
  }
}

function tooMuch(limit: string): string {
  return `only texts of at most ${limit} are mended`;
}

/** Returns the deepest nesting of brackets, including those in strings. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '{' || sign === '[' || sign === '(') {
      depth += 1;
      most = Math.max(most, depth);
    } else if (sign === '}' || sign === ']' || sign === ')') depth -= 1;
  }
  return most;
}
