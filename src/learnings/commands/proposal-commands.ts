import { refuse } from '../../contracts/decision.js';
import type { LearningArguments } from '../../contracts/learning-requests.js';
import { learningId, learningTags, learningText, sameText } from '../learning-text.js';
import type { Entry, LearningState } from '../learnings-state.js';
import { pageOf } from '../list-page.js';
import { nearDuplicate } from '../near-duplicate.js';
import { noRoomByHand, rulesPaused, sessionsPaused } from '../proposal-room.js';
import { answer, append, type LearningDecision, type LearningReplyOn } from './learning-decision.js';
import { resolveProposal } from './resolve-learning.js';

/** The commands on proposals, each decided on the state of a project. */

export function propose(state: LearningState, args: LearningArguments<'learning.propose'>): LearningDecision {
  const content = learningText(args.content);
  if (content === '')
    return refuse('schema_invalid', 'content: must contain visible text', { fields: ['content'] });
  const id = learningId(state.project, content);
  const known = state.entries.get(id);
  // A person may propose again what was rejected or retracted.
  if (known?.proposal.status === 'pending' || state.active.has(id))
    return answer(showing(id, { existing: true }));
  const { type, source, confidence } = args;
  const refusal = noRoomByHand(state, source.session);
  if (refusal !== undefined) return refusal;
  const tags = learningTags(args.tags);
  return append(
    {
      type: 'proposed',
      data: {
        proposal: id,
        type,
        content,
        tags,
        source,
        method: 'manual',
        evidence: [],
        ...(confidence !== undefined && { confidence }),
      },
    },
    showing(id, { existing: false }),
  );
}

export function listProposals(
  state: LearningState,
  { status, ...request }: LearningArguments<'proposal.list'>,
): LearningDecision {
  const all = [...state.entries.values()].map(({ proposal }) => proposal).reverse();
  const page = pageOf(all, request, (proposal) => status === 'all' || proposal.status === status);
  if ('kind' in page) return page;
  const { items: proposals, ...more } = page;
  const paused = sessionsPaused(state);
  return answer(({ project }) => ({
    project,
    proposals,
    ...more,
    ...(rulesPaused(state) && { rulesPaused: true }),
    ...(paused.length > 0 && { sessionsPaused: paused }),
  }));
}

export function showProposal(
  state: LearningState,
  { id }: LearningArguments<'proposal.show'>,
): LearningDecision {
  const resolved = resolveProposal(state, id);
  return 'refusal' in resolved ? resolved.refusal : answer(showing(resolved.found.id));
}

/** A near-duplicate of a learning is added to it, or kept apart where the caller says so; the same text never is. */
export function acceptProposal(
  state: LearningState,
  args: LearningArguments<'proposal.accept'>,
): LearningDecision {
  const resolved = resolveProposal(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id, proposal } = resolved.found;
  if (proposal.status !== 'pending') return alreadyDecided(resolved.found);
  if (args.merge && args.separate)
    return refuse('schema_invalid', 'merge: cannot be combined with separate', { fields: ['merge'] });
  const near = nearDuplicate(state, proposal.content, id);
  const same = near !== undefined && sameText(near.content, proposal.content);
  if (near !== undefined && !args.merge && (same || !args.separate)) {
    const message =
      `learning ${near.learning} says ${same ? 'the same' : `nearly the same (${near.similarity.toFixed(2)})`}: ` +
      `${JSON.stringify(near.content)}. Accept with merge to add the evidence to it` +
      (same ? ', or reject the proposal' : ', or with separate to keep both');
    return refuse('near_duplicate', message, { proposal: id, ...near });
  }
  if (near === undefined && args.merge) {
    return refuse('not_found', `no learning says nearly the same as ${id}: accept it without merge`, { id });
  }
  const merged = args.merge && near !== undefined ? { merged_into: near.learning } : {};
  return append({ type: 'accepted', data: { proposal: id, by: args.by, ...merged } }, showing(id));
}

export function rejectProposal(
  state: LearningState,
  args: LearningArguments<'proposal.reject'>,
): LearningDecision {
  const resolved = resolveProposal(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id, proposal } = resolved.found;
  if (proposal.status !== 'pending') return alreadyDecided(resolved.found);
  const reason = args.reason ? { reason: args.reason } : {};
  return append({ type: 'rejected', data: { proposal: id, by: args.by, ...reason } }, showing(id));
}

function alreadyDecided({ id, proposal }: Entry & { readonly id: string }): LearningDecision {
  const { status, decidedBy, decidedAt } = proposal;
  const message = `proposal ${id} was ${status} by ${decidedBy ?? 'unknown'} at ${decidedAt ?? 'an unknown time'}`;
  return refuse('already_decided', message, { id, status, decidedBy, decidedAt });
}

/** A proposal with its outcome, and the learning that says nearly the same. */
export function showing(id: string, more: object = {}): LearningReplyOn {
  return (state) => {
    const entry = state.entries.get(id);
    if (entry === undefined) return { project: state.project, proposal: null, ...more };
    const { proposal, learning, retired } = entry;
    return {
      project: state.project,
      proposal,
      learning: state.active.get(proposal.mergedInto ?? id) ?? null,
      ...(retired && { retired }),
      similar: nearDuplicate(state, (learning ?? proposal).content, id) ?? null,
      ...more,
    };
  };
}
