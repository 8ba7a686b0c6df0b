import { RELATIONS } from '../../contracts/relations.js';
import type { FactRecorded } from '../../contracts/session-events.js';
import { statingFacts } from './event-facts.js';
import { groupOf, isLasting, type RecordedFact } from './fact-types.js';

/** The kinds of statements, in the order in which those of one result get their ids. */
export const STATEMENT_KINDS = [
  'decision',
  'rule',
  'failed',
  'found',
  'question',
  'follow-up',
  'note',
] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

const KIND_OF: { readonly [relation: string]: StatementKind } = {
  [RELATIONS.asks]: 'question',
  [RELATIONS.requires]: 'follow-up',
  [RELATIONS.suggested]: 'follow-up',
  [RELATIONS.failed]: 'failed',
  [RELATIONS.found]: 'found',
};

/** Returns the kind of a fact that holds for later agents; undefined for any other fact. */
export function statementKind(fact: RecordedFact): StatementKind | undefined {
  const known = KIND_OF[fact.relation];
  if (known !== undefined) return known;
  if (!isLasting(fact)) return undefined;
  const group = groupOf(fact);
  if (group === 'decisions') return 'decision';
  return group === 'conventions' ? 'rule' : 'note';
}

/** The facts of an event that are statements, in the order of their ids. */
export function statementsOf(event: FactRecorded): readonly RecordedFact[] {
  return statingFacts(event)
    .map((fact) => ({ fact, kind: statementKind(fact) }))
    .filter(({ kind }) => kind !== undefined)
    .sort((a, b) => placeOf(a.kind) - placeOf(b.kind))
    .map(({ fact }) => fact);
}

/**
 * Returns the id of a statement: `M7` for the first one of dispatch 7, `M7.2` for the second one. So it needs no counter,
 * and a result that is delivered again has the same ids.
 *
 * @param number of the dispatch, above the numbers of imported statements
 */
export function refOf(number: number, at: number): string {
  return `M${number}${at === 0 ? '' : `.${at + 1}`}`;
}

function placeOf(kind: StatementKind | undefined): number {
  return kind === undefined ? STATEMENT_KINDS.length : STATEMENT_KINDS.indexOf(kind);
}
