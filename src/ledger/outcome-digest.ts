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

const MAX_SUMMARY = 240;
const MAX_TEXT = 200;
const MAX_LIST = 20;
/** Blockers and required fixes: as many as an event keeps, so that none that was recorded is lost. */
const MAX_DEMANDS = 50;
const MAX_DEMAND = 500;
const MAX_FILES = 50;

/** The digest of an outcome. */
export function digestOf(dispatch: DispatchOutcome): OutcomeDigest {
  if (dispatch.role === 'implementer') {
    const { status, summary, blockers = [], files_modified = [], tests = [] } = dispatch.outcome;
    const failed = tests.filter((run) => !run.passed).slice(0, MAX_LIST);
    return {
      role: 'implementer',
      status,
      summary: clipText(summary, MAX_SUMMARY),
      blockers: clipped(blockers, MAX_DEMANDS, MAX_DEMAND),
      files: files_modified.slice(0, MAX_FILES).map((file) => clipText(file, MAX_TEXT)),
      passed: clipped(tests.filter((run) => run.passed).map((run) => run.command)),
      failed: failed.map((run) => ({
        command: clipText(run.command, MAX_TEXT),
        failure: clipText(run.failures?.[0] ?? '', MAX_TEXT),
      })),
    };
  }
  const { assessment, issues = [], required_fixes = [] } = dispatch.outcome;
  return {
    role: 'reviewer',
    assessment,
    issues: issues.slice(0, MAX_LIST).map(({ severity, message, file }) => ({
      severity,
      message: clipText(message, MAX_TEXT),
      ...(file !== undefined && { file: clipText(file, MAX_TEXT) }),
    })),
    fixes: clipped(required_fixes, MAX_DEMANDS, MAX_DEMAND),
  };
}

function clipped(texts: readonly string[], max = MAX_LIST, length = MAX_TEXT): string[] {
  return texts.slice(0, max).map((text) => clipText(text, length));
}
