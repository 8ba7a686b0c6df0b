import { isDeepStrictEqual } from 'node:util';
import { KEPT } from '../../contracts/kept-limits.js';
import type { Role } from '../../contracts/kinds.js';
import type { AnyResult, RoleResult } from '../../contracts/results.js';
import type { FactRecorded, Outcome } from '../../contracts/session-events.js';
import { EXTRACTION_RULES, type Extraction, ownFacts, RuleBasedFactExtractor } from './fact-extractor.js';
import { type RecordedFact, saysTheSame } from './fact-types.js';

/**
 * Derives the facts that only repeat a field of the outcome, so that events need not store them: an event holds the
 * agent's explicit facts, and the rules derive the others. If truncation of the outcome would change a derived fact,
 * the event holds all facts and says so (`facts_complete`).
 *
 * Events are never rewritten, so their derived facts must not change either: different rules need a new version.
 */

/** More facts may exceed the event's limit; the facts left out are counted when the event is written. */
const MOST = Math.floor(
  KEPT.fact.bytesPerDispatch / (4 * (KEPT.fact.subject + KEPT.fact.relation + KEPT.fact.object)),
);

/** The same rules, except that explicit facts come from the event unchanged. */
const FOLLOWING_RULES = EXTRACTION_RULES.map((rule) =>
  rule.name === 'facts'
    ? { name: rule.name, extract: ({ facts }: AnyResult) => (facts ?? []) as RecordedFact[] }
    : rule,
);
export const ALL_RULES = new RuleBasedFactExtractor({ rules: FOLLOWING_RULES });

/** Derives the facts among which are all statements, which costs less than all facts. */
export const STATEMENT_RULES = new RuleBasedFactExtractor({
  rules: FOLLOWING_RULES.filter(({ name }) =>
    ['follow_up_actions', 'conventions', 'facts', 'suggestions', 'decisions', 'failed', 'questions'].includes(
      name,
    ),
  ),
});

/** Returns the stored facts and those derived from the outcome by some rules, without the ids of statements. */
export function factsBy(rules: RuleBasedFactExtractor, { data }: FactRecorded): readonly RecordedFact[] {
  const { dispatch, facts } = data;
  const { role, task, outcome } = dispatch;
  return data.facts_complete ? facts : extractedFrom(rules, role, task, outcome, facts).facts;
}

function extractedFrom(
  rules: RuleBasedFactExtractor,
  role: Role,
  task: string,
  outcome: Outcome,
  facts: readonly RecordedFact[],
): Extraction {
  // Not a whole result: an outcome has the fields that the rules read, and facts are taken as recorded.
  const result = { ...outcome, task_id: task, facts } as unknown as RoleResult['result'];
  return rules.extract({ role, result } as RoleResult, task);
}

/**
 * Returns what the event of a result stores: its own facts if the rules derive the others from the outcome, else all of them
 * (`isComplete`); and the number of facts that are left out for space.
 */
export function factsToStore(
  { result, role }: { readonly result: AnyResult; readonly role: Role },
  outcome: Outcome,
  rules: RuleBasedFactExtractor,
): Extraction & { readonly isComplete: boolean } {
  const { task_id: task, facts, artifacts } = result;
  const recorded = lengthOf(facts) + lengthOf(artifacts) === 0 ? NO_FACTS : ownFacts(result, task, role);
  const kept = recorded.filter((fact, at) => recorded.findIndex((other) => saysTheSame(other, fact)) === at);
  // Nearly all: running the rules would take ten times as long.
  const isPlain =
    DERIVED.every(
      (field) => result[field] === outcome[field] || isDeepStrictEqual(result[field], outcome[field]),
    ) && factsAtMost(result) <= MOST;
  if (isPlain) return { facts: kept, omitted: 0, isComplete: false };
  const all = rules.extract({ role, result } as RoleResult, task);
  const derived = extractedFrom(ALL_RULES, role, task, outcome, kept);
  return isDeepStrictEqual(derived, all)
    ? { facts: kept, omitted: all.omitted, isComplete: false }
    : { ...all, isComplete: true };
}

const NO_FACTS: readonly RecordedFact[] = Object.freeze([]);
const DERIVED = [
  ...(['summary', 'branch', 'commit', 'files_modified', 'tests', 'follow_up_actions'] as const),
  ...(['blockers', 'questions', 'issues', 'required_fixes'] as const),
];

/** An upper bound. An issue with a fix may be twice as long. */
function factsAtMost(result: AnyResult): number {
  const { files_modified, tests, follow_up_actions, blockers, issues, required_fixes, facts, artifacts } =
    result;
  let most = 4 + lengthOf(files_modified) + lengthOf(follow_up_actions) + 2 * lengthOf(blockers);
  most += lengthOf(result.questions);
  most += 3 * lengthOf(issues) + 2 * lengthOf(required_fixes) + lengthOf(facts) + lengthOf(artifacts);
  for (const { failures } of tests ?? []) most += Math.max(1, lengthOf(failures));
  return most;
}

function lengthOf(items: readonly unknown[] | undefined): number {
  return items?.length ?? 0;
}
