import { type FactTag, kindOf, ROLES, rolesOf } from '../../contracts/kinds.js';
import { BLOCKED_BY, RELATIONS } from '../../contracts/relations.js';

/** Ordered by importance to a reader. */
export const FACT_GROUPS = [
  'findings',
  'conventions',
  'decisions',
  'tests',
  'requirements',
  'work',
  'files',
  'facts',
] as const;
export type FactGroup = (typeof FACT_GROUPS)[number];

interface Told {
  readonly relation: string;
  readonly tags: readonly FactTag[];
}

const DECIDES = /^(?:decid|decision|chose|choos)/;
const OUTCOMES: ReadonlySet<string> = new Set(ROLES.flatMap((role) => kindOf(role).relations.verdict ?? []));
const SUMMARIES: ReadonlySet<string> = new Set(ROLES.map((role) => kindOf(role).relations.summary));

/** Returns the group of a fact, by its relation and, for explicit facts, its tags. */
export function groupOf({ relation, tags }: Told): FactGroup {
  switch (relation) {
    case RELATIONS.requiredFix:
    case RELATIONS.issue:
      return 'findings';
    case RELATIONS.changedBy:
      return 'files';
    case RELATIONS.requires:
    case BLOCKED_BY:
      return 'requirements';
    case RELATIONS.test:
      return 'tests';
    default:
  }
  if (SUMMARIES.has(relation) || OUTCOMES.has(relation)) return 'work';
  if (relation === RELATIONS.convention || tags.includes('convention')) return 'conventions';
  if (tags.includes('decision') || DECIDES.test(relation)) return 'decisions';
  if (relation === RELATIONS.suggested) return 'requirements';
  return 'facts';
}

/** True for a fact that only states success or an outcome: a verdict, a passing test, a review that says "Good now." */
export function isBare({ relation, tags, object }: Told & { readonly object: string }): boolean {
  if (REVIEW_SUMMARIES.has(relation))
    return object.split(/\s+/, BARE_WORDS).length < BARE_WORDS && !NAMES.test(object);
  return (
    OUTCOMES.has(relation) ||
    relation === RELATIONS.branch ||
    relation === RELATIONS.commit ||
    (relation === RELATIONS.test && !tags.includes('error'))
  );
}

/** Groups that outlive their task and may matter without a shared word. */
const LASTING: ReadonlySet<FactGroup> = new Set(['decisions', 'conventions', 'facts']);

/** True for a decision, convention or fact in words. A definition can be found in the code, so it is none. */
export function isLasting(fact: Told & { readonly object: string }): boolean {
  return LASTING.has(groupOf(fact)) && fact.relation !== RELATIONS.defined && !isBare(fact);
}

const REVIEW_SUMMARIES: ReadonlySet<string> = new Set(
  rolesOf('review').map((role) => kindOf(role).relations.summary),
);
/** A review summary of fewer words says no more than its verdict, unless it names a file, a number or a symbol. */
const BARE_WORDS = 5;
const NAMES = /\d|[\w)][./_:(]\w|`/;

/** True for a one-sentence summary of a result. */
export function isSummary({ relation }: Pick<Told, 'relation'>): boolean {
  return SUMMARIES.has(relation);
}
