import { refuse } from '../../contracts/decision.js';
import type { LearningArguments } from '../../contracts/learning-requests.js';
import { learningTags, learningText, sameText } from '../learning-text.js';
import { type LearningState, type ListedLearning, retiredLearnings } from '../learnings-state.js';
import { pageOf } from '../list-page.js';
import { nearDuplicate } from '../near-duplicate.js';
import { answer, append, type LearningDecision } from './learning-decision.js';
import { showing } from './proposal-commands.js';
import { resolveLearning, resolveProposal } from './resolve-learning.js';

/** The commands on learnings, each decided on the state of a project. */

export function listLearnings(
  state: LearningState,
  { retired, ...request }: LearningArguments<'learning.list'>,
): LearningDecision {
  const all = retired ? retiredLearnings(state) : [...state.active.values()].reverse();
  const page = pageOf<ListedLearning>(all, request);
  if ('kind' in page) return page;
  const { items: learnings, ...more } = page;
  return answer(({ project }) => ({ project, learnings, ...more }));
}

/** Changes an active learning or a pending proposal. */
export function editLearning(
  state: LearningState,
  args: LearningArguments<'learning.edit'>,
): LearningDecision {
  if (args.content === undefined && args.type === undefined && args.tags === undefined) {
    return refuse('schema_invalid', 'content: give content, type or tags', { fields: ['content'] });
  }
  const content = args.content === undefined ? undefined : learningText(args.content);
  if (content === '')
    return refuse('schema_invalid', 'content: must contain visible text', { fields: ['content'] });
  const pending = resolveProposal(state, args.id);
  const open = 'found' in pending && pending.found.proposal.status === 'pending';
  const resolved = open ? pending : resolveLearning(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id } = resolved.found;
  const near = content === undefined || open ? undefined : nearDuplicate(state, content, id);
  if (near !== undefined && sameText(near.content, content ?? '')) {
    const message = `learning ${near.learning} says the same: let it supersede ${id}, or retract one of them`;
    return refuse('near_duplicate', message, { id, ...near });
  }
  const data = {
    learning: id,
    by: args.by,
    ...(content !== undefined && { content }),
    ...(args.type !== undefined && { type: args.type }),
    ...(args.tags !== undefined && { tags: learningTags(args.tags) }),
  };
  return append({ type: 'edited', data }, showing(id));
}

export function supersedeLearning(
  state: LearningState,
  args: LearningArguments<'learning.supersede'>,
): LearningDecision {
  const old = resolveLearning(state, args.id);
  if ('refusal' in old) return old.refusal;
  const replacement = resolveLearning(state, args.replacement);
  if ('refusal' in replacement) return replacement.refusal;
  const id = old.found.id;
  if (id === replacement.found.id) {
    return refuse('schema_invalid', `replacement: ${id} cannot replace itself; name another learning`, {
      fields: ['replacement'],
    });
  }
  const data = { learning: id, replacement: replacement.found.id, by: args.by };
  return append({ type: 'superseded', data }, showing(id));
}

export function retractLearning(
  state: LearningState,
  args: LearningArguments<'learning.retract'>,
): LearningDecision {
  const resolved = resolveLearning(state, args.id);
  if ('refusal' in resolved) return resolved.refusal;
  const { id } = resolved.found;
  const reason = args.reason ? { reason: args.reason } : {};
  return append({ type: 'retracted', data: { learning: id, by: args.by, ...reason } }, showing(id));
}
