import type { z } from 'zod';
import { defined } from '../shared/collections.js';
import { clipText, isObject, oneLine } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { explainIssues } from './explain-issues.js';
import { KEPT } from './kept-limits.js';
import { bySeverity, type Role } from './kinds.js';
import { noteClipped } from './reading/field-values.js';
import { type Cleaning, type FoundJson, findJson } from './reading/found-json.js';
import { readResult } from './reading/read-result.js';
import { type Repair, Repairs } from './reading/repairs.js';
import { isExact, type Json, resultShape, saysNothing } from './reading/shape.js';
import { type AnyResult, type Question, RESULTS, type RoleResult, taskId } from './results.js';
import type { DispatchOutcome, Outcome } from './session-events.js';

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
  const text = decode(data);
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

type Found = Extract<FoundJson, { ok: true }>;

function checked(
  { value, repairs: mended, broken }: Found,
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

function decode(data: Uint8Array): string | undefined {
  try {
    return utf8.decode(data);
  } catch {
    return undefined;
  }
}

// A reason quotes the body, and ends up in headers, logs and terminals.
function fault({ code, reason, fix, task, meant }: DispatchFault): ParsedBody {
  return { ok: false, ...defined({ code, reason: oneLine(reason), fix: fix && oneLine(fix), task, meant }) };
}

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/**
 * Returns the part of a result that its event keeps besides the facts, with size limits. Keys without a value are left out,
 * because a replayed event must equal the live one.
 */
export function outcomeOf(
  { role, result }: RoleResult,
  { sequence, task, at }: { sequence: number; task: string; at: string },
): DispatchOutcome {
  return { sequence, task, at, role, outcome: kept(result, at) };
}

function kept(
  { task_id: _, result_id: __, facts: ___, artifacts: ____, ...said }: AnyResult,
  publishedAt: string,
): Outcome {
  const { issues, questions = [], at, history, ...others } = said;
  const time = at === undefined ? 0 : Date.parse(at);
  const isEarlier = time > 0 && time < Date.parse(publishedAt);
  return {
    ...clipped(others),
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
