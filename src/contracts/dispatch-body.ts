import type { z } from 'zod';
import { clipText, oneLine } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { explainIssues } from './explain-issues.js';
import { KEPT } from './kept-limits.js';
import { bySeverity, type Role } from './kinds.js';
import { MAX_ITEMS, withClipped } from './reading/field-values.js';
import { type Cleaning, type FoundJson, findJson } from './reading/found-json.js';
import { readResult, saysNothing } from './reading/read-result.js';
import { type Repair, Repairs } from './reading/repairs.js';
import { type Json, resultShape, usesOwnNames } from './reading/shape.js';
import {
  type AnyResult,
  type Question,
  RESULTS,
  type ReviewIssue,
  type RoleResult,
  type TestRun,
  taskId,
} from './results.js';
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

const NONE: readonly Repair[] = Object.freeze([]);

function checked(
  { value, repairs: mended, broken }: Found,
  role: Role,
  clean: Cleaning,
  schemaOf: SchemaOf,
): ParsedBody {
  const schema = schemaOf(role);
  const shape = resultShape(role);
  // The schema reports an issue for every wrong item, however long the list is.
  const strict = hasLongList(value) ? undefined : schema.safeParse(value);
  if (strict?.success && broken === undefined) {
    // The schema accepted it, so it is an object. Most results end here.
    const valid = value as Json;
    if (usesOwnNames(valid, shape, shape) && !saysNothing(valid, role))
      return accepted(role, strict.data, mended);
  }
  const repairs = mended ?? new Repairs();
  const reading = readResult(value, role);
  if (!reading.ok && broken === undefined) return fault({ code: 'schema_invalid', ...reading });
  if (!reading.ok) {
    const reason = `${broken}; mended as far as it goes, ${reading.reason}`;
    return fault({ ...reading, code: 'json_parse_failed', reason });
  }
  // A repair may have parsed a text whose escapes hid a secret.
  const read = schema.safeParse(clean(reading.value, JSON.stringify(reading.value)));
  if (!read.success)
    return fault({
      code: 'schema_invalid',
      reason: explainIssues(RESULTS[role], reading.value),
      fix: 'correct these fields and send the result again',
      task: reading.task,
    });
  repairs.take(reading.repairs);
  return accepted(role, read.data, repairs);
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) {
    const list: unknown = (value as Json)[key];
    if (Array.isArray(list) && list.length > MAX_ITEMS) return true;
  }
  return false;
}

function accepted(role: Role, data: unknown, noted: Repairs | undefined): ParsedBody {
  const value = { role, result: data } as RoleResult;
  const repairs = withClipped(value.result, noted);
  if (repairs === undefined) return { ok: true, value, repairs: NONE };
  const { repairs: reported, repairsOmitted } = repairs.report();
  return { ok: true, value, repairs: reported, ...(repairsOmitted > 0 && { repairsOmitted }) };
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
  return {
    ok: false,
    code,
    reason: oneLine(reason),
    ...(fix !== undefined && { fix: oneLine(fix) }),
    ...(task !== undefined && { task }),
    ...(meant !== undefined && { meant }),
  };
}

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/**
 * Returns the part of a result that its event keeps besides the facts, with size limits. Keys without a value are left out,
 * because a replayed event must equal the live one and `delete` slows down every later access.
 */
export function outcomeOf(
  { role, result }: RoleResult,
  { sequence, task, at }: { sequence: number; task: string; at: string },
): DispatchOutcome {
  return { sequence, task, at, role, outcome: kept(result, at) };
}

function kept(result: AnyResult, publishedAt: string): Outcome {
  const { status, assessment, summary, files_modified, tests, follow_up_actions, blockers } = result;
  const { strengths, issues, required_fixes, questions, intent_id, branch, commit, at, history } = result;
  const { files_deleted, files_renamed } = result;
  const outcome: Outcome = {};
  if (status !== undefined) outcome.status = status;
  if (assessment !== undefined) outcome.assessment = assessment;
  if (summary !== undefined) outcome.summary = line(summary);
  if (files_modified !== undefined) outcome.files_modified = lines(files_modified);
  if (files_deleted !== undefined) outcome.files_deleted = lines(files_deleted);
  if (files_renamed !== undefined)
    outcome.files_renamed = files_renamed
      .slice(0, MAX_LIST)
      .map(({ from, to }) => ({ from: line(from), to: line(to) }))
      .filter(({ from, to }) => from !== '' && to !== '');
  if (tests !== undefined) outcome.tests = tests.slice(0, MAX_LIST).map(testRun);
  if (follow_up_actions !== undefined) outcome.follow_up_actions = lines(follow_up_actions);
  if (blockers !== undefined) outcome.blockers = lines(blockers);
  if (strengths !== undefined) outcome.strengths = lines(strengths);
  if (issues !== undefined) outcome.issues = bySeverity(issues).slice(0, MAX_LIST).map(reviewIssue);
  if (required_fixes !== undefined) outcome.required_fixes = lines(required_fixes);
  const asked = questions?.slice(0, KEPT.question.list).map(keptQuestion) ?? [];
  // A text of invisible characters alone leaves nothing.
  if (asked.some(isSaid)) outcome.questions = asked.filter(isSaid);
  if (intent_id !== undefined) outcome.intent_id = line(intent_id);
  if (branch !== undefined) outcome.branch = line(branch);
  if (commit !== undefined) outcome.commit = line(commit);
  const time = at === undefined ? 0 : Date.parse(at);
  if (time > 0 && time < Date.parse(publishedAt)) outcome.at = new Date(time).toISOString();
  if (history === true) outcome.history = true;
  return outcome;
}

function testRun({ command, passed, failures }: TestRun): TestRun {
  const run: TestRun = { command: line(command), passed };
  if (failures !== undefined) run.failures = lines(failures);
  return run;
}

function reviewIssue({ severity, file, message, fix }: ReviewIssue): ReviewIssue {
  const issue: ReviewIssue =
    file === undefined
      ? { severity, message: line(message) }
      : { severity, file: line(file), message: line(message) };
  if (fix !== undefined) issue.fix = line(fix);
  return issue;
}

function keptQuestion({ text, options, default: usual = '' }: Question): Question {
  const goesOnWith = line(usual);
  return {
    text: line(text),
    ...(options !== undefined && { options: options.slice(0, KEPT.question.options).map(line) }),
    ...(goesOnWith !== '' && { default: goesOnWith }),
  };
}

const isSaid = ({ text }: Question) => text !== '';

function line(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function lines(texts: readonly string[]): string[] {
  return texts.slice(0, MAX_LIST).map(line);
}
