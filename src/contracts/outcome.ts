import { clipText, oneLine } from '../shared/text.js';
import { KEPT } from './kept.js';
import type { Role } from './names.js';
import type { ImplementerResult, ReviewerResult, RoleResult } from './results.js';
import type { DispatchOutcome } from './session-events.js';

/**
 * The part of a result that goes onto its event beside the facts: whole in shape, bounded in size. The dispatch
 * itself keeps every byte; an event must fit one message and be read at each replay. A key without a value is left
 * out: a replayed event must equal the live one, and `delete` would make every later step on the object slow.
 */

const { text: MAX_TEXT, list: MAX_LIST } = KEPT.outcome;

type TestRun = NonNullable<ImplementerResult['tests']>[number];
type ReviewIssue = NonNullable<ReviewerResult['issues']>[number];

/** What an event says of a result. */
export function outcomeOf(
  returned: RoleResult,
  { sequence, task, at }: { sequence: number; task: string; at: string },
): DispatchOutcome {
  return returned.role === 'implementer'
    ? { sequence, task, at, role: 'implementer', outcome: implementerOutcome(returned.result) }
    : { sequence, task, at, role: 'reviewer', outcome: reviewerOutcome(returned.result) };
}

type OutcomeOf<R extends Role> = Extract<DispatchOutcome, { role: R }>['outcome'];

function implementerOutcome(result: ImplementerResult): OutcomeOf<'implementer'> {
  const { status, summary, files_modified, tests, follow_up_actions, blockers, intent_id } = result;
  const outcome: OutcomeOf<'implementer'> = { status, summary: line(summary) };
  if (files_modified !== undefined) outcome.files_modified = lines(files_modified);
  if (tests !== undefined) outcome.tests = tests.slice(0, MAX_LIST).map(testRun);
  if (follow_up_actions !== undefined) outcome.follow_up_actions = lines(follow_up_actions);
  if (blockers !== undefined) outcome.blockers = lines(blockers);
  if (intent_id !== undefined) outcome.intent_id = line(intent_id);
  return outcome;
}

function testRun({ command, passed, failures }: TestRun): TestRun {
  const run: TestRun = { command: line(command), passed };
  if (failures !== undefined) run.failures = lines(failures);
  return run;
}

function reviewerOutcome(result: ReviewerResult): OutcomeOf<'reviewer'> {
  const { assessment, strengths, issues, required_fixes, intent_id } = result;
  const outcome: OutcomeOf<'reviewer'> = { assessment };
  if (strengths !== undefined) outcome.strengths = lines(strengths);
  if (issues !== undefined) outcome.issues = issues.slice(0, MAX_LIST).map(reviewIssue);
  if (required_fixes !== undefined) outcome.required_fixes = lines(required_fixes);
  if (intent_id !== undefined) outcome.intent_id = line(intent_id);
  return outcome;
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
