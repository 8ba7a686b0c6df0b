import type { LearningArguments, LearningRequest } from '../../contracts/learning-requests.js';
import type { LearningState } from '../learnings-state.js';
import { editLearning, listLearnings, retractLearning, supersedeLearning } from './learning-commands.js';
import type { LearningDecision } from './learning-decision.js';
import { acceptProposal, listProposals, propose, rejectProposal, showProposal } from './proposal-commands.js';

export type { LearningDecision } from './learning-decision.js';

/** Requests that are decided on a project's state alone; a search asks for vectors as well. */
export type LearningCommand = Exclude<LearningRequest, 'learning.search'>;

const COMMANDS: {
  readonly [Name in LearningCommand]: (
    state: LearningState,
    args: LearningArguments<Name>,
  ) => LearningDecision;
} = {
  'learning.propose': propose,
  'learning.list': listLearnings,
  'learning.edit': editLearning,
  'learning.supersede': supersedeLearning,
  'learning.retract': retractLearning,
  'proposal.list': listProposals,
  'proposal.show': showProposal,
  'proposal.accept': acceptProposal,
  'proposal.reject': rejectProposal,
};

/** Decides a command on the state of a project. */
export function decideLearning<Name extends LearningCommand>(
  name: Name,
  state: LearningState,
  args: LearningArguments<Name>,
): LearningDecision {
  return COMMANDS[name](state, args);
}
