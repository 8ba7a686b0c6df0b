import type { ReplyTo } from '../../src/contracts/requests.js';
import type { Learning, Proposal } from '../../src/memory/learnings/learnings-state.js';

/** A proposal without a decision. */
export function pendingProposal(more: Partial<Proposal> = {}): Proposal {
  return {
    id: 'abcdef012345',
    type: 'pattern',
    content: 'Run the linter',
    tags: ['lint'],
    confidence: 0.82,
    method: 'manual',
    source: {},
    evidence: [],
    extractedAt: '2026-01-01T00:00:00Z',
    status: 'pending',
    ...more,
  };
}

/** The learning that a proposal becomes. */
export function learningOf(proposal: Proposal): Learning {
  const { id, type, content, tags, source, evidence, extractedAt } = proposal;
  return { id, type, content, tags, source, evidence, extractedAt, confirmedAt: '2026-01-02T00:00:00Z' };
}

/** What the service answers about a proposal. */
export function viewOf(
  proposal: Partial<Proposal> = {},
  more: Partial<ReplyTo<'proposal.show'>> = {},
): ReplyTo<'proposal.show'> {
  return {
    project: 'p',
    proposal: pendingProposal(proposal),
    learning: null,
    similar: null,
    sequence: 1,
    ...more,
  };
}

/** A learning that says nearly the same as `pendingProposal`. */
export const SIMILAR = { learning: '999999abcdef', content: 'Run the linter first', similarity: 0.75 };
