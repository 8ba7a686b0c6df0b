import type { LearningsReport } from '../contracts/compile-request.js';
import {
  type LearningsInPrompt,
  learningTokens,
  NO_LEARNINGS,
  withinTokens,
} from '../learnings/format-learnings.js';

/** The learnings cut to what a budget allows. */
export function learningsWithin(learnings: LearningsInPrompt, maxTokens: number): LearningsInPrompt {
  return { ...learnings, ranked: withinTokens(learnings.ranked, maxTokens) };
}

/** What learnings take of the budget that they share with facts: at most half. */
export function learningsShare(
  known: LearningsInPrompt | undefined,
  maxTokens: number,
): { readonly learnings: LearningsInPrompt; readonly tokens: number } {
  const learnings = learningsWithin(known ?? NO_LEARNINGS, Math.floor(maxTokens / 2));
  const tokens = learnings.ranked.reduce((sum, each) => sum + learningTokens(each), 0);
  return { learnings, tokens };
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
