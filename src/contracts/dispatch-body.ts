import type { z } from 'zod';
import { oneLine } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { messageOf } from './errors.js';
import { explainIssues } from './explain-issues.js';
import type { Role } from './kinds.js';
import { RESULTS, type RoleResult, taskId } from './results.js';

/**
 * The body of a dispatch: a JSON object, or an agent's raw text that holds exactly one
 * `BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT` pair around that object.
 */

const BEGIN = 'BEGIN_DISPATCH_RESULT';
const END = 'END_DISPATCH_RESULT';
const FENCE = '```';
const OPENING_FENCE = /^```[a-z]*\s*$/i;

/** Why a body cannot be used. */
export interface DispatchFault {
  readonly code: ErrorCode;
  readonly reason: string;
  /** The task of the result, where that much could be read. */
  readonly task?: string;
  /** What would make it readable. */
  readonly fix?: string;
}

export type ParsedBody =
  | { readonly ok: true; readonly value: RoleResult }
  | ({ readonly ok: false } & DispatchFault);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The schemas that check results, asked for when they are needed. */
export type SchemaOf = (role: Role) => Pick<z.ZodType, 'safeParse'>;

const PLAIN: SchemaOf = (role) => RESULTS[role];

/** Changes the parsed value before it is checked; it also gets the text. */
export type Cleaning = (json: unknown, text: string) => unknown;

/**
 * Parses a dispatch body. Never throws: bad input is an outcome.
 *
 * @param maxBytes larger bodies are refused unread
 * @param clean takes secrets out, so that neither result nor reason holds one
 * @param schemaOf `compiledResult` where many bodies are parsed
 */
export function parseDispatchBody(
  data: Uint8Array,
  role: Role,
  maxBytes: number,
  clean: Cleaning = (json) => json,
  schemaOf: SchemaOf = PLAIN,
): ParsedBody {
  if (data.length > maxBytes) {
    return fault('too_large', `the body has ${data.length} bytes, the limit is ${maxBytes}`);
  }
  const text = decode(data);
  if (text === undefined) return fault('json_parse_failed', NOT_TEXT);
  const json = findJson(text.trim(), clean);
  if (!json.ok) return json;
  return checked(json.value, role, schemaOf);
}

function checked(value: unknown, role: Role, schemaOf: SchemaOf): ParsedBody {
  const parsed = schemaOf(role).safeParse(value);
  if (!parsed.success) return fault('schema_invalid', explainIssues(RESULTS[role], value), taskOf(value));
  // Its own schema gave it.
  return { ok: true, value: { role, result: parsed.data } as RoleResult };
}

/** The JSON of a body as it was published, unchecked. Never throws. */
export function dispatchJson(data: Uint8Array): FoundJson {
  const text = decode(data);
  if (text === undefined) return fault('json_parse_failed', NOT_TEXT);
  return findJson(text.trim(), (json) => json);
}

const NOT_TEXT = 'the body is not UTF-8 text';

type FoundJson = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & DispatchFault);

function findJson(text: string, clean: Cleaning): FoundJson {
  const hasMarker = () => text.includes(BEGIN) || text.includes(END);
  if (text.startsWith('{')) {
    const whole = parseJson(text, clean);
    // Raw text may itself begin with a brace: only a body without markers is judged as plain JSON.
    if (whole.ok || !hasMarker()) return whole;
  }
  if (!hasMarker())
    return fault('marker_missing', `the body is not a JSON object and holds no ${BEGIN} … ${END} pair`);
  const begins = text.split(BEGIN).length - 1;
  const ends = text.split(END).length - 1;
  const from = text.indexOf(BEGIN) + BEGIN.length;
  const to = text.indexOf(END);
  if (begins !== 1 || ends !== 1 || to < from) {
    return fault(
      'marker_missing',
      `expected exactly one ${BEGIN} … ${END} pair, found ${begins} and ${ends}`,
    );
  }
  const inner = text.slice(from, to).trim();
  return parseJson(unfenced(inner), clean);
}

/** The inside of a fenced block. Not one pattern for all of it: that backtracks for hours on a hostile body. */
function unfenced(text: string): string {
  const firstBreak = text.indexOf('\n');
  const fenced = OPENING_FENCE.test(text.slice(0, Math.max(0, firstBreak))) && text.endsWith(FENCE);
  return fenced ? text.slice(firstBreak + 1, -FENCE.length) : text;
}

function parseJson(text: string, clean: Cleaning): FoundJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault('json_parse_failed', `the body is not JSON: ${whyNotJson(clean(text, text))}`);
  }
  return { ok: true, value: clean(value, text) };
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

function decode(data: Uint8Array): string | undefined {
  try {
    return utf8.decode(data);
  } catch {
    return undefined;
  }
}

// A reason quotes from the body, and goes into headers, logs and terminals.
function fault(code: ErrorCode, reason: string, task?: string): { ok: false } & DispatchFault {
  return { ok: false, code, reason: oneLine(reason), ...(task !== undefined && { task }) };
}

function taskOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && 'task_id' in value
    ? taskId.safeParse(value.task_id).data
    : undefined;
}
