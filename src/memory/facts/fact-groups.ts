import type { FactTag } from '../../contracts/fact-tags.js';
import { kindOf, ROLES } from '../../contracts/kinds.js';
import { BLOCKED_BY, RELATIONS } from '../../contracts/relations.js';

/** What a fact is for a reader, from what matters most to what matters least. */
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

/** What the group of a fact is known by. */
interface Told {
  readonly relation: string;
  readonly tags: readonly FactTag[];
}

const DECIDES = /^(?:decid|decision|chose|choos)/;
const OUTCOMES: ReadonlySet<string> = new Set(ROLES.flatMap((role) => kindOf(role).relations.verdict ?? []));
const SUMMARIES: ReadonlySet<string> = new Set(ROLES.map((role) => kindOf(role).relations.summary));

/** The group of a fact, by its relation and, of a fact in words, by its tags. */
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

/** Whether a fact says only that something went as it should, how it ended, or where: a verdict, a test that passes. */
export function isBare({ relation, tags }: Told): boolean {
  return (
    OUTCOMES.has(relation) ||
    relation === RELATIONS.branch ||
    (relation === RELATIONS.test && !tags.includes('error'))
  );
}

/** Whether a fact says in one sentence what a result did. */
export function isSummary({ relation }: Pick<Told, 'relation'>): boolean {
  return SUMMARIES.has(relation);
}
