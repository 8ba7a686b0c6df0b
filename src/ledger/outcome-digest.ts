import { KEPT, keptTexts } from '../contracts/kept.js';
import { type Role, type Verdict, verdictIn } from '../contracts/kinds.js';
import type { Severity } from '../contracts/results.js';
import type { DispatchOutcome } from '../contracts/session-events.js';
import { clipText } from '../shared/text.js';

/**
 * What the ledgers need of a dispatch's outcome, bounded: it stays in the state until the dispatch is settled.
 */
export interface OutcomeDigest {
  readonly role: Role;
  /** Absent for a kind that gives none. */
  readonly verdict?: Verdict;
  readonly summary?: string;
  readonly blockers: readonly string[];
  readonly files: readonly string[];
  /** Test commands that passed. */
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
  readonly issues: readonly DigestIssue[];
  readonly fixes: readonly string[];
}

export interface FailedTest {
  readonly command: string;
  readonly failure: string;
}

export interface DigestIssue {
  readonly severity: Severity;
  readonly message: string;
  readonly file?: string;
}

const { digest: MOST } = KEPT;

/** The digest of an outcome. */
export function digestOf({ role, outcome }: DispatchOutcome): OutcomeDigest {
  const {
    summary,
    blockers = [],
    files_modified = [],
    tests = [],
    issues = [],
    required_fixes = [],
  } = outcome;
  const verdict = verdictIn(role, outcome);
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
      failure: clipText(run.failures?.[0] ?? '', MOST.text),
    })),
    issues: issues.slice(0, MOST.list).map(({ severity, message, file }) => ({
      severity,
      message: clipText(message, MOST.text),
      ...(file !== undefined && { file: clipText(file, MOST.text) }),
    })),
    fixes: keptTexts(required_fixes, MOST.demands, MOST.demand),
  };
}
