import type { DecisionOn, ReplyOn, Unstamped } from '../../contracts/decision.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import type { LearningState } from '../learnings-state.js';

/** The outcome of a command on the state of a project. */
export type LearningDecision = DecisionOn<LearningState, LearningEvent>;
export type LearningReplyOn = ReplyOn<LearningState>;

export function append(event: Unstamped<LearningEvent>, reply: LearningReplyOn): LearningDecision {
  return { kind: 'append', event, reply };
}

export function answer(reply: LearningReplyOn): LearningDecision {
  return { kind: 'answer', reply };
}
