import { KEPT, keptTexts } from '../contracts/kept.js';
import { bySeverity, type Role, type Severity, type Verdict, verdictIn } from '../contracts/kinds.js';
import type { Question } from '../contracts/results.js';
import type { DispatchOutcome } from '../contracts/session-events.js';
import { clipText, oneSpelling } from '../shared/text.js';

/** The ledgers' copy of an outcome, bounded, since it stays in the state until the dispatch is settled. */
export interface OutcomeDigest {
  readonly role: Role;
  readonly verdict?: Verdict;
  readonly summary?: string;
  readonly blockers: readonly string[];
  /** Those of a blocked result without options or default are its blockers that ask. */
  readonly questions?: readonly Question[];
  readonly files: readonly string[];
  /** Test commands that passed. */
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
  readonly followUps: readonly string[];
  /** The most severe first. */
  readonly issues: readonly DigestIssue[];
  readonly fixes: readonly string[];
  /** From before the session. */
  readonly history?: true;
}

interface FailedTest {
  readonly command: string;
  /** The first ones; `count` is the total. */
  readonly failures: readonly string[];
  readonly count: number;
}

export interface DigestIssue {
  readonly severity: Severity;
  readonly message: string;
  readonly file?: string;
  /** The reviewer's suggestion. */
  readonly fix?: string;
}

const { digest: MOST } = KEPT;

export function digestOf({ role, outcome }: DispatchOutcome): OutcomeDigest {
  const {
    summary,
    blockers = [],
    files_modified = [],
    tests = [],
    follow_up_actions = [],
    issues = [],
    required_fixes = [],
  } = outcome;
  const verdict = verdictIn(role, outcome);
  const questions = questionsOf(outcome, verdict);
  const failed = tests.filter((run) => !run.passed).slice(0, MOST.list);
  return {
    role,
    ...(verdict !== undefined && { verdict }),
    ...(summary !== undefined && { summary: clipText(summary, MOST.summary) }),
    blockers: keptTexts(blockers, MOST.demands, MOST.demand),
    files: keptTexts(files_modified, MOST.files, MOST.text),
    passed: keptTexts(
      tests.filter((run) => run.passed).map((run) => run.command),
      MOST.list,
      MOST.text,
    ),
    failed: failed.map((run) => ({
      command: clipText(run.command, MOST.text),
      failures: keptTexts(run.failures ?? [], MOST.failures, MOST.text),
      count: run.failures?.length ?? 0,
    })),
    followUps: keptTexts(follow_up_actions, MOST.list, MOST.text),
    issues: bySeverity(issues)
      .slice(0, MOST.list)
      .map(({ severity, message, file, fix }) => ({
        severity,
        message: clipText(message, MOST.text),
        ...(file !== undefined && { file: clipText(file, MOST.text) }),
        ...(fix !== undefined && { fix: clipText(fix, MOST.text) }),
      })),
    fixes: keptTexts(required_fixes, MOST.demands, MOST.demand),
    ...(questions.length > 0 && { questions }),
    ...(outcome.history === true && { history: true }),
  };
}

/** Returns the questions of a result: its own, and blockers that ask something. */
export function questionsOf(
  { questions = [], blockers = [] }: DispatchOutcome['outcome'],
  verdict: Verdict | undefined,
): Question[] {
  const asking = verdict === 'blocked' ? blockers.filter((text) => /[?？]/.test(text)) : [];
  const all = [...questions, ...asking.map((text): Question => ({ text }))];
  const first = new Map(all.map((question) => [oneSpelling(question.text), question] as const).reverse());
  return [...first.values()].reverse().slice(0, KEPT.question.list);
}
