import { clipText, oneLine } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { KEPT } from './kept.js';
import type { AnyResult, ReviewIssue, RoleResult, TestRun } from './results.js';
import type { DispatchOutcome, Outcome } from './session-events.js';
import { bySeverity } from './severity.js';

/**
 * The part of a result that goes onto its event beside the facts: whole in shape, bounded in size. The dispatch
 * itself keeps every byte; an event must fit one message and be read at each replay. A key without a value is left
 * out: a replayed event must equal the live one, and `delete` would make every later step on the object slow.
 */

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

/** What an event says of a result. */
export function outcomeOf(
  { role, result }: RoleResult,
  { sequence, task, at }: { sequence: number; task: string; at: string },
): DispatchOutcome {
  return { sequence, task, at, role, outcome: kept(result) };
}

function kept(result: AnyResult): Outcome {
  const { status, assessment, summary, files_modified, tests, follow_up_actions, blockers } = result;
  const { strengths, issues, required_fixes, intent_id, branch, history } = result;
  const outcome: Outcome = {};
  if (status !== undefined) outcome.status = status;
  if (assessment !== undefined) outcome.assessment = assessment;
  if (summary !== undefined) outcome.summary = line(summary);
  if (files_modified !== undefined) outcome.files_modified = lines(files_modified);
  if (tests !== undefined) outcome.tests = tests.slice(0, MAX_LIST).map(testRun);
  if (follow_up_actions !== undefined) outcome.follow_up_actions = lines(follow_up_actions);
  if (blockers !== undefined) outcome.blockers = lines(blockers);
  if (strengths !== undefined) outcome.strengths = lines(strengths);
  if (issues !== undefined) outcome.issues = bySeverity(issues).slice(0, MAX_LIST).map(reviewIssue);
  if (required_fixes !== undefined) outcome.required_fixes = lines(required_fixes);
  if (intent_id !== undefined) outcome.intent_id = line(intent_id);
  if (branch !== undefined) outcome.branch = line(branch);
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

function line(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function lines(texts: readonly string[]): string[] {
  return texts.slice(0, MAX_LIST).map(line);
}

/**
 * The outcome of a command on a state: an event to append, an answer without one, or a refusal. Pure: the caller
 * stamps time and id, appends expecting the state's sequence, and decides again when another writer came first.
 */
export type DecisionOn<State, Event> =
  | { readonly kind: 'append'; readonly event: Unstamped<Event>; readonly reply: ReplyOn<State> }
  | { readonly kind: 'answer'; readonly reply: ReplyOn<State> }
  | Refusal;

/** Makes the answer from the state as it is after the event. */
export type ReplyOn<State> = (state: State) => object;

export interface Refusal {
  readonly kind: 'refuse';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An event before it is stamped with version, time and id. */
export type Unstamped<Event> = Event extends { readonly type: string; readonly data: unknown }
  ? Pick<Event, 'type' | 'data'>
  : never;

export function refuse(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal {
  return { kind: 'refuse', code, message, ...(details && { details }) };
}
