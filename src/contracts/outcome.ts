import { clipText, oneLine } from '../shared/text.js';
import type { ErrorCode } from './error-codes.js';
import { KEPT } from './kept.js';
import { bySeverity } from './kinds.js';
import type { AnyResult, Question, ReviewIssue, RoleResult, TestRun } from './results.js';
import type { DispatchOutcome, Outcome } from './session-events.js';

/**
 * The part of a result that its event keeps besides the facts, with size limits. Keys without a value are left out,
 * because a replayed event must equal the live one and `delete` slows down every later access.
 */

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

export function outcomeOf(
  { role, result }: RoleResult,
  { sequence, task, at }: { sequence: number; task: string; at: string },
): DispatchOutcome {
  return { sequence, task, at, role, outcome: kept(result) };
}

function kept(result: AnyResult): Outcome {
  const { status, assessment, summary, files_modified, tests, follow_up_actions, blockers } = result;
  const { strengths, issues, required_fixes, questions, intent_id, branch, commit, history } = result;
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
  if (questions !== undefined && questions.length > 0)
    outcome.questions = questions.slice(0, KEPT.question.list).map(keptQuestion);
  if (intent_id !== undefined) outcome.intent_id = line(intent_id);
  if (branch !== undefined) outcome.branch = line(branch);
  if (commit !== undefined) outcome.commit = line(commit);
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

function keptQuestion({ text, options, default: usual }: Question): Question {
  return {
    text: line(text),
    ...(options !== undefined && { options: options.slice(0, KEPT.question.options).map(line) }),
    ...(usual !== undefined && { default: line(usual) }),
  };
}

function line(text: string): string {
  return clipText(oneLine(text), MAX_TEXT);
}

function lines(texts: readonly string[]): string[] {
  return texts.slice(0, MAX_LIST).map(line);
}

/**
 * The outcome of a command: an event to append, an answer without one, or a refusal. Pure: the caller adds time and id,
 * appends with the expected sequence, and decides again after a conflict.
 */
export type DecisionOn<State, Event> =
  | { readonly kind: 'append'; readonly event: Unstamped<Event>; readonly reply: ReplyOn<State> }
  | { readonly kind: 'answer'; readonly reply: ReplyOn<State> }
  | Refusal;

/** Makes the answer from the state after the event. */
export type ReplyOn<State> = (state: State) => object;

export interface Refusal {
  readonly kind: 'refuse';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An event without version, time and id. */
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
