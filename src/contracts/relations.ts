import { clipText, oneLine, quoted } from '../shared/text.js';
import { KEPT } from './kept-limits.js';
import { kindOf, ROLES } from './kinds.js';

/** The relations of facts from result fields, besides those of the kinds. */
export const RELATIONS = {
  changedBy: 'modified_by',
  requires: 'requires',
  test: 'test_result',
  issue: 'issue',
  requiredFix: 'must_fix',
  convention: 'convention',
  decided: 'decided',
  /** A request of the user that takes something back: it is decided if an older statement says so, else not kept. */
  requested: 'requested',
  /** A rule that holds from now on, in a user's or an agent's words. */
  rule: 'rule',
  /** A cause, or a fact about the code or the machine. */
  found: 'found',
  /** An attempt that does not work, with its reason. */
  failed: 'failed',
  /** The answer to a question, or what became of something that was open: it names them in `replaces`. */
  settled: 'settled',
  noted: 'noted',
  branch: 'on_branch',
  /** A git branch, `branch:feat-x`, was merged or deleted: that closes the questions of results on it. */
  branchEnded: 'branch_ended',
  commit: 'at_commit',
  /** Something that the work added, and how to call it. */
  defined: 'defined_as',
  /** A question of an agent to its user, which an observer saw left open. */
  asks: 'asks',
  /** A wish of a review that approved the task. */
  suggested: 'suggested',
} as const;

/** Written by work results for their task; agents may use it for other subjects. */
export const BLOCKED_BY = 'blocked_by';

/** Relations that agents may use in their own facts. */
const FREE: ReadonlySet<string> = new Set([
  RELATIONS.convention,
  RELATIONS.decided,
  RELATIONS.requested,
  RELATIONS.rule,
  RELATIONS.found,
  RELATIONS.failed,
  RELATIONS.settled,
  RELATIONS.noted,
  RELATIONS.suggested,
  RELATIONS.asks,
  RELATIONS.branchEnded,
  RELATIONS.defined,
]);

/** Relations reserved for outcomes: a fact with one closes earlier facts. */
export const PROTECTED_RELATIONS: ReadonlySet<string> = new Set([
  ...ROLES.flatMap((role) => Object.values(kindOf(role).relations)),
  ...Object.values(RELATIONS).filter((relation) => !FREE.has(relation)),
]);

const PLAIN = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** Normalizes a relation: `must_fix` for `Must-Fix` and ` must fix`; may be empty. */
export function relationOf(text: string): string {
  // The common case. Quoting still removes markers between underscores.
  const name = text.length <= KEPT.fact.relation && PLAIN.test(text) ? text : spelledOnce(text);
  return clipText(quoted(name), KEPT.fact.relation);
}

function spelledOnce(text: string): string {
  return oneLine(text.normalize('NFKC'))
    .toLowerCase()
    .replace(/[\s_\p{Pd}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

/** Returns false for an explicit fact that would pass for an outcome, or close facts of a task's results. */
export function maySay(subject: string, relation: string): boolean {
  const canonical = relationOf(relation);
  if (PROTECTED_RELATIONS.has(canonical)) return false;
  return (canonical !== RELATIONS.convention && canonical !== RELATIONS.suggested) || !isTask(subject);
}

function isTask(subject: string): boolean {
  return quoted(subject.normalize('NFKC')).toLowerCase().startsWith('task:');
}
