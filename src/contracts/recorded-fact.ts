import { z } from 'zod';
import { clipText, oneLine, quoted } from '../shared/text.js';
import { KEPT } from './kept-limits.js';
import { ENDINGS, FACT_TAGS, kindOf, ORIGINS, ROLES, SEVERITIES } from './kinds.js';
import { named, oneOf, string, strings } from './schema-fields.js';

/** The relations of facts from result fields, besides those of the kinds. */
export const RELATIONS = {
  changedBy: 'modified_by',
  requires: 'requires',
  test: 'test_result',
  issue: 'issue',
  requiredFix: 'must_fix',
  convention: 'convention',
  decided: 'decided',
  /** A rule that holds from now on, in a user's or an agent's words. */
  rule: 'rule',
  /** A cause, or a fact about the code or the machine. */
  found: 'found',
  /** An attempt that does not work, with its reason. */
  failed: 'failed',
  /** The answer to a question, or what became of something that was open: it names them in `replaces`. */
  settled: 'settled',
  noted: 'noted',
  /** The git branch of a result. */
  branch: 'on_branch',
  /** The git commit of a result. */
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
  RELATIONS.rule,
  RELATIONS.found,
  RELATIONS.failed,
  RELATIONS.settled,
  RELATIONS.noted,
  RELATIONS.suggested,
  RELATIONS.asks,
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

/** By what another statement ended a statement. */
export const ended = named('Ended', 'The end of a statement by another one.', {
  by: string('Id of the statement that ended it, or the finished task.'),
  how: oneOf('Replaced, answered or settled.', ENDINGS),
  term: string('The term that both are about, if it was not named.').exactOptional(),
});
export type Ended = z.output<typeof ended>;

export const statementEnds = z
  .array(z.object({ id: string('Id of the statement that ends.'), ...ended.shape }))
  .readonly()
  .describe('The statements that it ends.');

export const statementScope = named('StatementScope', 'Where a statement holds. Absent: everywhere.', {
  task: string('Only for this task.').optional(),
  paths: strings('Only for files that fit one of these, such as legacy/**.')
    .max(10, 'must be at most 10 paths')
    .readonly()
    .optional(),
  branch: string('Only on this git branch.').optional(),
});
export type StatementScope = z.output<typeof statementScope>;

export const recordedFact = named('RecordedFact', 'A fact as its event stores it.', {
  subject: string('Subject of the fact.'),
  relation: string('Relation of subject and object.'),
  object: string('Object of the fact.'),
  tags: z.array(z.enum(FACT_TAGS)).readonly().describe('Tags of the fact.'),
  severity: oneOf('Severity of a finding.', SEVERITIES).optional(),
  fix: string('Suggested fix of a finding.').optional(),
  confidence: z.number().min(0).max(1).optional().describe('Confidence, 0 to 1; left out for 1.'),
  origin: oneOf('Who states it; left out for an agent.', ORIGINS).optional(),
  replaces: z.array(z.string()).readonly().optional().describe('Ids of the statements that it names to end.'),
  ref: string('Id of the statement, such as M7.').optional(),
  scope: statementScope.optional(),
});

export const recordedRepair = named('Repair', 'A change that reading made to a result.', {
  kind: string('Kind of the repair.'),
  field: string('Path of the field; of several, the first.'),
  detail: string('Old or new value; one short line.').optional(),
  count: z.int().positive().optional().describe('Number of items of one list; left out for one.'),
});
