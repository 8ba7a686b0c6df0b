import { jsonrepair } from 'jsonrepair';
import type { ErrorCode } from '../error-codes.js';
import { messageOf } from '../errors.js';
import { BEGIN, END, fencedBlocks } from './last-result.js';
import { Repairs, WHOLE } from './repairs.js';

/**
 * Finds the JSON of a result in a body: the body itself, the text between one pair of markers, or the only fenced
 * block. Repairs invalid JSON once.
 */

/** Changes the parsed value before it is checked; also receives the text. */
export type Cleaning = (json: unknown, text: string) => unknown;

export type FoundJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly repairs?: Repairs;
      /** What was wrong with invalid JSON. */
      readonly broken?: string;
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string; readonly fix: string };

const PAIR = `one ${BEGIN} … ${END} pair`;

export function findJson(text: string, clean: Cleaning): FoundJson {
  if (text === '') return refused('marker_missing', 'the body is empty', 'send one whole JSON object');
  // Raw text may begin with a brace too: only a body without markers must be JSON.
  const whole = /^[[{]/.test(text) ? parsed(text, clean) : undefined;
  if (whole !== undefined) return withoutMarkers(text, whole, clean);
  const begins = text.split(BEGIN).length - 1;
  const ends = text.split(END).length - 1;
  if (begins + ends === 0) return withoutMarkers(text, undefined, clean);
  const from = text.indexOf(BEGIN) + BEGIN.length;
  const to = ends === 0 ? text.length : text.indexOf(END);
  if (begins > 1 && begins === ends) return severalResults(begins, 'marker_missing');
  if (begins !== 1 || ends > 1 || to < from) {
    const reason = `expected exactly ${PAIR}, found ${begins} and ${ends}`;
    return refused('marker_missing', reason, `keep exactly ${PAIR}, around the result that counts`);
  }
  const inner = text.slice(from, to).trim();
  const block = inner.startsWith('{') ? undefined : fencedBlocks(inner)[0]?.text;
  if (ends === 1) return read(block ?? inner, clean);
  // Without the closing marker, only a whole object shows that nothing is missing.
  const found = parsed(inner.slice(Math.max(inner.indexOf('{'), 0), inner.lastIndexOf('}') + 1), clean);
  const fix = `keep exactly ${PAIR}, around the whole result`;
  if (!found?.ok) return refused('marker_missing', `${END} is missing`, fix);
  return around(found, `${END} is missing`);
}

function withoutMarkers(text: string, whole: FoundJson | undefined, clean: Cleaning): FoundJson {
  if (/^[[{]/.test(text)) {
    const found = whole ?? inText(text, clean);
    const count = found.ok && Array.isArray(found.value) ? found.value.length : 1;
    if (count > 1) return severalResults(count, 'marker_missing');
    if (text.startsWith('{') || found.ok) return found;
  }
  const blocks = fencedBlocks(text);
  const json = blocks.filter(({ language }) => /^json[c5]?$/.test(language));
  const [block, ...others] = json.length > 0 ? json : blocks;
  if (block === undefined || others.length > 0 || !block.text.startsWith('{')) {
    const reason = `the body is not a JSON object and holds no ${BEGIN} … ${END} pair`;
    return refused('marker_missing', reason, `send the JSON object alone, or between ${PAIR}`);
  }
  return around(read(block.text, clean), 'found in a fenced block');
}

function read(text: string, clean: Cleaning): FoundJson {
  return parsed(text, clean) ?? inText(text, clean);
}

function around(found: FoundJson, detail: string): FoundJson {
  if (!found.ok) return found;
  const { repairs = new Repairs() } = found;
  repairs.note('around', WHOLE, detail);
  return { ...found, repairs };
}

function refused(code: ErrorCode, reason: string, fix: string): FoundJson {
  return { ok: false, code, reason, fix };
}

function severalResults(count: number, code: ErrorCode): FoundJson {
  const reason = `${count === 2 ? 'two' : count} results: send each on its own`;
  return refused(code, reason, 'send each result on its own');
}

function parsed(text: string, clean: Cleaning): FoundJson | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { ok: true, value: clean(value, text) };
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
  const { inner: broken, isCut } = outermost(cleaned);
  if (isCut)
    return refused('json_parse_failed', `${reason}; it ends too early`, 'send the whole JSON object');
  const found = parsed(mendedJson(broken ?? '') ?? '', clean);
  // With several values, the result is ambiguous.
  if (found?.ok && Array.isArray(found.value) && found.value.length > 1)
    return severalResults(found.value.length, 'json_parse_failed');
  if (found?.ok && typeof found.value === 'object') {
    repairs.note('json', WHOLE);
    return { ...found, repairs, broken: reason };
  }
  return refused('json_parse_failed', reason, 'send one whole JSON object and nothing else');
}

/** Returns the text from the first brace to the last, and true if more JSON follows: half a path is a different path. */
function outermost(text: string): { readonly inner?: string; readonly isCut?: boolean } {
  const opens = text.startsWith('[') ? 0 : text.indexOf('{');
  if (opens < 0) return {};
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  return {
    inner: text.slice(opens, Math.max(end, opens)),
    isCut: end <= opens || /["{[:]/.test(text.slice(end)),
  };
}

/** The engine quotes the text that it cannot parse, so it gets the redacted one. */
function whyNotJson(cleaned: string): string {
  try {
    JSON.parse(cleaned);
    return 'the fault is inside a secret, which is not shown';
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * `jsonrepair` is quadratic for some texts. Within these limits of the length, and of the characters at which it may insert
 * something, the worst takes about 50 ms.
 */
export const MENDED = { characters: 32 * 1024, signs: 1024 } as const;

const SIGNS = /["'`´“”‘’/\\\n\r[{(+]|\d\s/g;
/** A backslash that is not a JSON escape, which the library would drop. */
const ESCAPE = /\\(?:["'`\\/bfnrt]|u[\da-f]{4})|\\/gi;

/** Returns the repaired text; undefined for one that is too long or cannot be repaired. */
export function mendedJson(text: string): string | undefined {
  if (text.length > MENDED.characters || (text.match(SIGNS) ?? []).length > MENDED.signs) return undefined;
  try {
    return jsonrepair(text.replace(ESCAPE, (found) => (found.length > 1 ? found : '\\\\')));
  } catch {
    return undefined;
  }
}
