import { BestLearnings } from './best-learnings.js';
import type { Learning, RankedLearning } from './learning-types.js';

/** Ranks that count of each list. Always as many, so that the best three of five are the best three of ten. */
export const FUSED_DEPTH = 100;

/**
 * One order from two: the mean of 1/rank by words and 1/rank by meaning, where one that a list lacks gets 0 of it.
 *
 * Cosines and shares of words do not compare, ranks do. The usual constant of rank fusion, 60, is for lists of
 * thousands: in a short one it lets all that stand in both lists pass the first of either. Without it, what is the best
 * of one way, as a learning that has no vector yet, is among the first three.
 */
export function fused(
  byWords: readonly RankedLearning[],
  byMeaning: readonly RankedLearning[],
  maxResults: number,
): RankedLearning[] {
  const scores = new Map<Learning, number>();
  for (const list of [byWords, byMeaning]) {
    for (const [index, { learning }] of list.entries()) {
      scores.set(learning, (scores.get(learning) ?? 0) + 0.5 / (index + 1));
    }
  }
  const best = new BestLearnings(maxResults);
  for (const [learning, score] of scores) best.add(learning, score);
  const cosines = new Map(byMeaning.map(({ learning, score }) => [learning, score]));
  return best.ranked.map((each) => {
    const similarity = cosines.get(each.learning);
    return similarity === undefined ? each : { ...each, similarity };
  });
}
