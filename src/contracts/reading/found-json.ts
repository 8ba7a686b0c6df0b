import type { ErrorCode } from '../error-codes.js';
import { messageOf } from '../errors.js';
import { kindOf, ROLES, type VerdictField } from '../kinds.js';
import { BEGIN, END, FENCE } from './last-result.js';
import { mendedJson } from './mended-json.js';
import { Repairs, WHOLE } from './repairs.js';

/**
 * Finds the JSON of a result in a body: the body itself, what stands between one pair of markers, or in the one fenced
 * block of a text. JSON that does not parse is mended once.
 */

const OPENING_FENCE = /^```[a-z0-9]*\s*$/i;

/** Ends a text that is cut off. */
export const CUT = '…';

/** Changes the parsed value before it is checked; it also gets the text. */
export type Cleaning = (json: unknown, text: string) => unknown;

export type FoundJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** The JSON that it was parsed from. */
      readonly json: string;
      /** What had to be done to the text. */
      readonly repairs?: Repairs;
      /** Where it had to be mended: the text before, and what was wrong with it. */
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
    // Raw text may itself begin with a brace: only a body without markers is judged as plain JSON.
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

/** A list of one, or the only fenced block of a text. */
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

/** The object after an opening marker whose end is missing: cut off or not is seen by the object. */
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

/** The object in a text that is not JSON as a whole: without what stands around it, or mended. */
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
  // Before it is mended: what stands between no quotes may become a name, and names are not cleaned.
  const cleaned = String(clean(text, text));
  const reason = `the body is not JSON: ${whyNotJson(cleaned)}`;
  const { broken } = outermost(cleaned);
  const mended = broken === undefined ? { reason: '' } : mendedJson(broken);
  if (broken !== undefined && 'json' in mended) {
    const found = parsed(mended.json, clean);
    // Several values are not a result: which of them would be it?
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

/** From the first brace of a text to the last one, and what is to be mended of it; nothing for a text without a brace. */
function outermost(text: string): { readonly inner?: string; readonly broken?: string } {
  const opens = text.startsWith('[') ? 0 : text.indexOf('{');
  if (opens < 0) return {};
  const rest = text.slice(opens);
  const end = Math.max(rest.lastIndexOf('}'), rest.lastIndexOf(']')) + 1;
  if (end === 0) return { broken: withItsEndShown(rest) };
  const inner = rest.slice(0, end);
  const after = rest.slice(end);
  // A quote after the last brace belongs to a text that is cut off; words alone are said about the result.
  return { inner, broken: after === '' || after.includes('"') ? withItsEndShown(rest) : inner };
}

/** A text within quotes that is cut off says so: half a path is not the path. */
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

/** The engine quotes from what it cannot parse: from the cleaned text it quotes no secret. */
function whyNotJson(cleaned: unknown): string {
  try {
    JSON.parse(String(cleaned));
    return 'the fault is inside a secret, which is not shown';
  } catch (error) {
    return messageOf(error);
  }
}

/** The inside of a fenced block. Not one pattern for all of it: that backtracks for hours on a hostile body. */
function unfenced(text: string): string {
  const firstBreak = text.indexOf('\n');
  const fenced = OPENING_FENCE.test(text.slice(0, Math.max(0, firstBreak))) && text.endsWith(FENCE);
  return fenced ? text.slice(firstBreak + 1, -FENCE.length) : text;
}

/** The only fenced block of JSON that holds an object. A block that names no language counts where it is the only one. */
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

/** By verdict field, the keys that must be clear. */
const CLEAR_KEYS = new Map(
  [undefined, ...ROLES.map((role) => kindOf(role).verdictField)].map((field) => [
    field,
    new RegExp(field === undefined ? '"task_id"' : `"(?:task_id|${field})"`, 'g'),
  ]),
);

/** Whether task or verdict may be given twice: most often it is not, and one look shows that. */
export function mayRepeatKeys(json: string, verdictField: VerdictField | undefined): boolean {
  // A letter of a name may be written by its number.
  if (json.includes('\\u00')) return true;
  const keys = CLEAR_KEYS.get(verdictField);
  const most = verdictField === undefined ? 1 : 2;
  if (keys === undefined) return true;
  keys.lastIndex = 0;
  let found = 0;
  while (found <= most && keys.test(json)) found += 1;
  return found > most;
}

/**
 * The keys of the outermost object that stand there more than once with different values: parsing keeps the last one.
 */
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

/** One past the closing quote of the string that begins at `from`; more than the length of a text that is cut off. */
function endOfString(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return json.length + 1;
}
