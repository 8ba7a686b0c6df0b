import type { LearningEvent } from '../../contracts/learning-events.js';
import type { DecisionOn, ReplyOn, Unstamped } from '../../decision.js';
import type { LearningState } from '../state.js';

/** What a command comes to on the state of a project. */
export type LearningDecision = DecisionOn<LearningState, LearningEvent>;
export type LearningReply = ReplyOn<LearningState>;

export function append(event: Unstamped<LearningEvent>, reply: LearningReply): LearningDecision {
  return { kind: 'append', event, reply };
}

export function answer(reply: LearningReply): LearningDecision {
  return { kind: 'answer', reply };
}
