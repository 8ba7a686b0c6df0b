import { type FactGroup, groupOf, isBare } from './fact-groups.js';
import type { RecordedFact, SessionFact } from './fact-types.js';

/** What a fact is worth that is open and worth least. */
export const OPEN_VALUE = 2;
/** What a finding, a convention or a decision is worth while it is open. */
export const MOST_VALUE = 7;

const OPEN_VALUES: Readonly<Record<FactGroup, number>> = {
  // Past results keep which files were touched, and what they said.
  files: OPEN_VALUE,
  work: 4,
  facts: 5,
  requirements: 5,
  tests: 6,
  decisions: MOST_VALUE,
  conventions: MOST_VALUE,
  findings: MOST_VALUE,
};

/** What a fact is worth when not all can be kept: what is closed less than what is open, and that by its group. */
export function worthOf(fact: SessionFact): number {
  const group = groupOf(fact);
  const isCheap = isBare(fact) || group === 'files';
  if (fact.validTo !== undefined) return isCheap ? 0 : 1;
  return isBare(fact) ? OPEN_VALUE + 1 : OPEN_VALUES[group];
}

/** Bytes of its words. */
export function bytesOfFact({ subject, relation, object, fix = '' }: RecordedFact): number {
  return Buffer.byteLength(subject) + relation.length + Buffer.byteLength(object) + Buffer.byteLength(fix);
}
