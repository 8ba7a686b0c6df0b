import type { LearningsReport } from '../contracts/replies/compile-reply.js';
import { formatLearning, type LearningsInPrompt } from '../learnings/format-learnings.js';
import { type Item, type ShownItem, wholeItems } from './fill-prompt.js';

/** The learnings as items of a prompt. */
export function learningItems(learnings: LearningsInPrompt): Item[] {
  return wholeItems(learnings.ranked.map(formatLearning));
}

/** Only those of the learnings that are shown. */
export function learningsShown(learnings: LearningsInPrompt, shown: readonly ShownItem[]): LearningsInPrompt {
  return { ...learnings, ranked: shown.flatMap(({ index }) => learnings.ranked[index] ?? []) };
}

/** The part of a reply that lists the learnings shown. */
export function describeLearnings({
  ranked,
  total,
  pending,
  method,
  sequence,
}: LearningsInPrompt): LearningsReport {
  return {
    learnings: ranked.map(({ learning: { id, type, content }, score }) => ({ id, type, content, score })),
    learningsShown: ranked.length,
    learningsTotal: total,
    proposalCount: pending.length,
    method,
    learningsSequence: sequence,
  };
}
