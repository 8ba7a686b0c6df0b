import type { LearningEvidence } from '../contracts/learning-events.js';

/** Dispatches kept as evidence of one learning. */
const MAX_EVIDENCE = 20;

/**
 * Adds evidence: one dispatch for each task of a session, since a demand that is repeated until it is met is still
 * one case. The newest dispatches are kept, whatever order they come in.
 */
export function withEvidence(
  known: readonly LearningEvidence[],
  added: readonly LearningEvidence[],
): readonly LearningEvidence[] {
  const byTask = new Map(known.map((each) => [caseOf(each), each]));
  for (const each of added) {
    const earlier = byTask.get(caseOf(each));
    if (earlier === undefined || earlier.dispatch < each.dispatch) byTask.set(caseOf(each), each);
  }
  return [...byTask.values()]
    .sort((a, b) => a.dispatch - b.dispatch || (caseOf(a) < caseOf(b) ? -1 : 1))
    .slice(-MAX_EVIDENCE);
}

/** How sure a demand is that was made in so many tasks: 0.67 for two, 0.75 for three, never 1. */
export function confidenceOf(evidence: readonly LearningEvidence[]): number {
  return Math.round((1 - 1 / (evidence.length + 1)) * 100) / 100;
}

function caseOf({ session, task }: LearningEvidence): string {
  return `${session}\u001f${task}`;
}
