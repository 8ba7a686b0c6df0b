import { KEPT, keptTexts } from '../contracts/kept.js';
import type { DispatchOutcome } from '../contracts/session-events.js';
import { clipText } from '../shared/text.js';

/**
 * What the ledgers need of a dispatch's outcome, bounded: it stays in the state until the dispatch is settled.
 */
export type OutcomeDigest = ImplementerDigest | ReviewerDigest;

export interface ImplementerDigest {
  readonly role: 'implementer';
  readonly status: 'completed' | 'blocked' | 'failed';
  readonly summary: string;
  readonly blockers: readonly string[];
  readonly files: readonly string[];
  /** Test commands that passed. */
  readonly passed: readonly string[];
  readonly failed: readonly FailedTest[];
}

export interface FailedTest {
  readonly command: string;
  readonly failure: string;
}

export interface ReviewerDigest {
  readonly role: 'reviewer';
  readonly assessment: 'approved' | 'needs_changes' | 'blocked';
  readonly issues: readonly ReviewIssue[];
  readonly fixes: readonly string[];
}

export interface ReviewIssue {
  readonly severity: 'critical' | 'important' | 'minor';
  readonly message: string;
  readonly file?: string;
}

const { digest: MOST } = KEPT;

/** The digest of an outcome. */
export function digestOf(dispatch: DispatchOutcome): OutcomeDigest {
  if (dispatch.role === 'implementer') {
    const { status, summary, blockers = [], files_modified = [], tests = [] } = dispatch.outcome;
    const failed = tests.filter((run) => !run.passed).slice(0, MOST.list);
    return {
      role: 'implementer',
      status,
      summary: clipText(summary, MOST.summary),
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
    };
  }
  const { assessment, issues = [], required_fixes = [] } = dispatch.outcome;
  return {
    role: 'reviewer',
    assessment,
    issues: issues.slice(0, MOST.list).map(({ severity, message, file }) => ({
      severity,
      message: clipText(message, MOST.text),
      ...(file !== undefined && { file: clipText(file, MOST.text) }),
    })),
    fixes: keptTexts(required_fixes, MOST.demands, MOST.demand),
  };
}
