import { clipText, oneLine, quoted } from '../shared/text.js';
import { KEPT } from './kept.js';
import { kindOf, ROLES } from './kinds.js';

/** The relations of facts that come from fields of results, beside those of their kinds. */
export const RELATIONS = {
  changedBy: 'modified_by',
  requires: 'requires',
  test: 'test_result',
  issue: 'issue',
  requiredFix: 'must_fix',
  convention: 'convention',
  noted: 'noted',
  /** The git branch that a result was done on. */
  branch: 'on_branch',
  /** What an observer saw left open, in the words of its agent: a question to its user. */
  asks: 'asks',
  /** What a review would like to have done that approved the task all the same. */
  suggested: 'suggested',
} as const;

/** What a task waits for, in the words of its last work result; of other things agents may say it too. */
export const BLOCKED_BY = 'blocked_by';

/** Relations that agents may use in facts of their own. */
const FREE: ReadonlySet<string> = new Set([
  RELATIONS.convention,
  RELATIONS.noted,
  RELATIONS.suggested,
  RELATIONS.asks,
]);

/** Relations by which results tell their own outcome: a fact in words closes what others said under its relation. */
export const PROTECTED_RELATIONS: ReadonlySet<string> = new Set([
  ...ROLES.flatMap((role) => Object.values(kindOf(role).relations)),
  ...Object.values(RELATIONS).filter((relation) => !FREE.has(relation)),
]);

const PLAIN = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;

/** A relation as its fact has it, in one spelling: `must_fix` for `Must-Fix` and ` must fix`; empty where nothing is left. */
export function relationOf(text: string): string {
  // Most are. A marker between underscores is one for `quoted` alone.
  const name = text.length <= KEPT.fact.relation && PLAIN.test(text) ? text : spelledOnce(text);
  return clipText(quoted(name), KEPT.fact.relation);
}

function spelledOnce(text: string): string {
  return oneLine(text.normalize('NFKC'))
    .toLowerCase()
    .replace(/[\s_\p{Pd}]+/gu, '_')
    .replace(/^_|_$/g, '');
}

/** Whether a fact in words may say this: it may not pass for an outcome, nor close what a task's results said. */
export function maySay(subject: string, relation: string): boolean {
  const said = relationOf(relation);
  if (PROTECTED_RELATIONS.has(said)) return false;
  return (said !== RELATIONS.convention && said !== RELATIONS.suggested) || !isTask(subject);
}

function isTask(subject: string): boolean {
  return quoted(subject.normalize('NFKC')).toLowerCase().startsWith('task:');
}
