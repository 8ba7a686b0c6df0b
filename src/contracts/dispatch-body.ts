import { jsonrepair } from 'jsonrepair';
import type { z } from 'zod';
import { defined } from '../shared/collections.js';
import { clipText, ifPossible, isObject, jsonOf, oneLine } from '../shared/text.js';
import { explainIssues } from './checked.js';
import type { ErrorCode } from './error-codes.js';
import { messageOf } from './errors.js';
import { KEPT } from './kept-limits.js';
import { bySeverity, type Role } from './kinds.js';
import { noteClipped } from './reading/field-values.js';
import { BEGIN, END, fencedBlocks } from './reading/last-result.js';
import { readResult } from './reading/read-result.js';
import { type Repair, Repairs, WHOLE } from './reading/repairs.js';
import { isExact, type Json, resultShape, saysNothing } from './reading/shape.js';
import { type AnyResult, type Question, RESULTS, type RoleResult, taskId } from './results.js';
import type { Outcome } from './session-events.js';

/**
 * The body of a dispatch: a JSON object, or raw text with exactly one `BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT`
 * pair around that object. Malformed fields are repaired where possible. `outcomeOf` is the part that the event keeps.
 */

export interface DispatchFault {
  readonly code: ErrorCode;
  readonly reason: string;
  /** One sentence. */
  readonly fix?: string;
  readonly task?: string;
  /** The role whose result it seems to be, if it was published as another. */
  readonly meant?: Role;
}

export type ParsedBody =
  | {
      readonly ok: true;
      readonly value: RoleResult;
      /** The first twenty repairs, including what its event will cut. */
      readonly repairs: readonly Repair[];
      /** Number of further repairs. */
      readonly repairsOmitted?: number;
    }
  | ({ readonly ok: false } & DispatchFault);

const utf8 = new TextDecoder('utf-8', { fatal: true });

type SchemaOf = (role: Role) => Pick<z.ZodType, 'safeParse'>;

const PLAIN: SchemaOf = (role) => RESULTS[role];

/**
 * Parses a dispatch body. Never throws: bad input is an outcome.
 *
 * @param maxBytes larger bodies are refused unread
 * @param clean removes secrets from result and reason
 * @param schemaOf `compiledResult` if many bodies are parsed
 */
export function parseDispatchBody(
  data: Uint8Array,
  role: Role,
  maxBytes: number,
  clean: Cleaning = (json) => json,
  schemaOf: SchemaOf = PLAIN,
): ParsedBody {
  if (data.length > maxBytes) {
    const reason = `the body has ${data.length} bytes, the limit is ${maxBytes}`;
    return fault({ code: 'too_large', reason, fix: `send at most ${maxBytes} bytes` });
  }
  const text = ifPossible(() => utf8.decode(data));
  if (text === undefined) return fault(NOT_TEXT);
  const trimmed = text.trim();
  const json = findJson(trimmed, clean);
  if (!json.ok) return fault({ ...json, ...named(trimmed) });
  return checked(json, role, clean, schemaOf);
}

const NOT_TEXT = {
  code: 'json_parse_failed',
  reason: 'the body is not UTF-8 text',
  fix: 'send it as UTF-8',
} as const;

function checked(
  { value, repairs: mended, broken }: Extract<FoundJson, { ok: true }>,
  role: Role,
  clean: Cleaning,
  schemaOf: SchemaOf,
): ParsedBody {
  // Reading a field by each of its names takes ten times as long as the schema: most results need neither names nor repairs.
  const exact =
    mended === undefined && isExact(value, resultShape(role)) ? schemaOf(role).safeParse(value) : undefined;
  if (exact?.success && !saysNothing(value as Json, role))
    return { ok: true, value: { role, result: exact.data } as RoleResult, repairs: [] };
  const repairs = mended ?? new Repairs();
  const reading = readResult(value, role);
  if (!reading.ok && broken === undefined) return fault({ code: 'schema_invalid', ...reading });
  if (!reading.ok) {
    const reason = `${broken}; mended as far as it goes, ${reading.reason}`;
    return fault({ ...reading, code: 'json_parse_failed', reason });
  }
  repairs.take(reading.repairs);
  // A repair may have parsed a text whose escapes hid a secret.
  const isSame = repairs.report().repairs.length === 0;
  const cleaned = isSame ? reading.value : clean(reading.value, JSON.stringify(reading.value));
  const read = schemaOf(role).safeParse(cleaned);
  if (!read.success)
    return fault({
      code: 'schema_invalid',
      reason: explainIssues(RESULTS[role], reading.value),
      fix: 'correct these fields and send the result again',
      task: reading.task,
    });
  const result = { role, result: read.data } as RoleResult;
  noteClipped(result.result, repairs);
  const { repairs: reported, repairsOmitted } = repairs.report();
  return { ok: true, value: result, repairs: reported, ...(repairsOmitted > 0 && { repairsOmitted }) };
}

/** Finds the task in text that is not JSON, if it names exactly one. */
function named(text: string): { readonly task?: string } {
  const ids = new Set<string>();
  for (const [, id] of text.matchAll(TASK_IN_TEXT)) {
    if (id !== undefined) ids.add(id);
    if (ids.size > 1) return {};
  }
  const [only] = ids;
  const read = taskId.safeParse(only);
  return read.success ? { task: read.data } : {};
}

const TASK_IN_TEXT = /["']task_?id["']\s{0,4}:\s{0,4}["']([^"'\\\n]{1,128})["']/gi;

// A reason quotes the body, and ends up in headers, logs and terminals.
function fault({ code, reason, fix, task, meant }: DispatchFault): ParsedBody {
  return { ok: false, ...defined({ code, reason: oneLine(reason), fix: fix && oneLine(fix), task, meant }) };
}

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/** The fields of a result that its outcome has in another form, or not at all. */
const KEPT_OTHERWISE: ReadonlySet<string> = new Set(
  'task_id result_id facts artifacts issues questions at history'.split(' '),
);

/** Returns the part of a result that its event keeps besides facts, without undefined keys: a replay must be equal. */
export function outcomeOf(result: AnyResult, publishedAt: string): Outcome {
  const { issues, questions = [], at, history } = result;
  const time = at === undefined ? 0 : Date.parse(at);
  const isEarlier = time > 0 && time < Date.parse(publishedAt);
  const others: Record<string, unknown> = {};
  // A rest of a destructuring is ten times as slow.
  for (const [name, value] of Object.entries(result))
    if (value !== undefined && !KEPT_OTHERWISE.has(name)) others[name] = clipped(value);
  return {
    ...(others as Outcome),
    ...(issues !== undefined && { issues: clipped(bySeverity(issues)) }),
    ...(questions.length > 0 && { questions: clipped(questions.map(keptQuestion)) }),
    ...(isEarlier && { at: new Date(time).toISOString() }),
    ...(history === true && { history }),
  };
}

function keptQuestion({ options, default: usual = '', ...question }: Question): Question {
  return {
    ...question,
    ...(options !== undefined && { options: options.slice(0, KEPT.question.options) }),
    ...(oneLine(usual) !== '' && { default: usual }),
  };
}

/** Cuts the texts and lists of a value, and leaves out fields without one. A value of which nothing is cut stays the same. */
function clipped<Value>(value: Value): Value;
function clipped(value: unknown): unknown {
  if (typeof value === 'string') return clipText(oneLine(value), MAX_TEXT);
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_LIST).map((item) => clipped(item));
    return items.length === value.length && items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  let isSame = true;
  for (const name of Object.keys(value)) {
    const part = clipped(value[name]);
    isSame &&= part !== undefined && part === value[name];
    if (part !== undefined) kept[name] = part;
  }
  return isSame ? value : kept;
}

/** Finds the JSON of a result: the body itself, the text between markers, or the only fenced block; repairs it once. */

/** Changes the parsed value before it is checked; also receives the text. */
type Cleaning = (json: unknown, text: string) => unknown;

type FoundJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly repairs?: Repairs;
      /** What was wrong with invalid JSON. */
      readonly broken?: string;
    }
  | { readonly ok: false; readonly code: ErrorCode; readonly reason: string; readonly fix: string };

const PAIR = `one ${BEGIN} … ${END} pair`;

function findJson(text: string, clean: Cleaning): FoundJson {
  if (text === '') return refused('marker_missing', 'the body is empty', 'send one whole JSON object');
  // Raw text may begin with a brace too: only a body without markers must be JSON.
  const whole = /^[[{]/.test(text) ? parsed(text, clean) : undefined;
  if (whole !== undefined && text.startsWith('{')) return whole;
  const begins = text.split(BEGIN).length - 1;
  const ends = text.split(END).length - 1;
  if (whole !== undefined || begins + ends === 0) return withoutMarkers(text, whole, clean);
  const from = text.indexOf(BEGIN) + BEGIN.length;
  const to = ends === 0 ? text.length : text.indexOf(END);
  if (begins > 1 && begins === ends) return severalResults(begins, 'marker_missing');
  if (begins !== 1 || ends > 1 || to < from) {
    const reason = `expected exactly ${PAIR}, found ${begins} and ${ends}`;
    return refused('marker_missing', reason, `keep exactly ${PAIR}, around the result that counts`);
  }
  const inner = text.slice(from, to).trim();
  const block = inner.startsWith('{') ? undefined : fencedBlocks(inner)[0]?.text;
  if (ends === 1) return readText(block ?? inner, clean);
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
  return around(readText(block.text, clean), 'found in a fenced block');
}

function readText(text: string, clean: Cleaning): FoundJson {
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
  const value = jsonOf(text);
  return value === undefined ? undefined : { ok: true, value: clean(value, text) };
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

/** `jsonrepair` is quadratic for some texts: within these limits of length and of signs to repair at, it takes 50 ms. */
export const MENDED = { characters: 32 * 1024, signs: 1024 } as const;

const SIGNS = /["'`´“”‘’/\\\n\r[{(+]|\d\s/g;
/** A backslash that is not a JSON escape, which the library would drop. */
const ESCAPE = /\\(?:["'`\\/bfnrt]|u[\da-f]{4})|\\/gi;

/** Returns the repaired text; undefined for one that is too long or cannot be repaired. */
export function mendedJson(text: string): string | undefined {
  if (text.length > MENDED.characters || (text.match(SIGNS) ?? []).length > MENDED.signs) return undefined;
  return ifPossible(() => jsonrepair(text.replace(ESCAPE, (found) => (found.length > 1 ? found : '\\\\'))));
}
