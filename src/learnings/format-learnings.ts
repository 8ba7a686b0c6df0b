import { clipText, quoted } from '../shared/text.js';
import { learningText } from './learning-text.js';
import type { Proposal, RankedLearning, RelevanceMethod } from './learning-types.js';

/** Learnings and proposals as a prompt shows them: one quoted line each. Empty where there are none. */

/** The part of a project's learnings that a prompt may show. */
export interface LearningsInPrompt {
  readonly method: RelevanceMethod;
  /** The most relevant first. */
  readonly ranked: readonly RankedLearning[];
  /** Active learnings. */
  readonly total: number;
  /** Proposals that wait for a decision, the newest first. */
  readonly pending: readonly Proposal[];
  /** Project sequence that this reflects. */
  readonly sequence: number;
}

export const NO_LEARNINGS: LearningsInPrompt = {
  method: 'recency',
  ranked: [],
  total: 0,
  pending: [],
  sequence: 0,
};

const SHOWN_PROPOSALS = 5;
const ID_CHARACTERS = 5;
const PROPOSAL_CHARACTERS = 40;
/** Room for the type, so that the texts of patterns and insights stand below each other. */
const TYPE_COLUMN = 8;

/**
 * `Relevant learnings (3/15):`, the best first, or `Recent learnings (5/15):` where only recency chose them. Scores are
 * not shown: they say an order, which the lines have, and depend on whether vectors came in time.
 */
export function formatRelevantLearnings({ method, ranked, total }: LearningsInPrompt): string {
  if (ranked.length === 0) return '';
  const title = method === 'recency' ? 'Recent' : 'Relevant';
  const lines = ranked.map(formatLearning);
  return [`${title} learnings (${ranked.length}/${total}):`, ...lines].join('\n');
}

/** The line of one learning. */
export function formatLearning({ learning }: RankedLearning): string {
  return `  - ${learning.type}: ${learningText(learning.content)}`;
}

/** The newest proposals as an index: id, type, the beginning of the text, and confidence. */
export function formatCompactProposals(pending: readonly Proposal[], reviewCommand: string): string {
  if (pending.length === 0) return '';
  const lines = pending.slice(0, SHOWN_PROPOSALS).map((proposal) => `  ${proposalLine(proposal)}`);
  const more = pending.length > SHOWN_PROPOSALS ? ['  ...'] : [];
  return [
    `Pending proposals (${pending.length}):`,
    ...[...lines, ...more],
    '',
    `Review: \`${reviewCommand}\``,
  ].join('\n');
}

/** `abc12 pattern  "Prefers explicit error handling..." (0.82)` */
function proposalLine({ id, type, content, confidence }: Proposal): string {
  const text = clipText(quoted(content), PROPOSAL_CHARACTERS);
  const sure = confidence === undefined ? 'N/A' : confidence.toFixed(2);
  return `${id.slice(0, ID_CHARACTERS)} ${type.padEnd(TYPE_COLUMN)} "${text}" (${sure})`;
}
