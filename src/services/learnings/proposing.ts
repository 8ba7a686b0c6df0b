import type { LearningDecision } from '../../learnings/commands/learning-decision.js';
import type { Proposed } from '../../learnings/harvest.js';
import type { LearningState } from '../../learnings/learnings-state.js';

/** Decides to append the first proposal that is still due: another process may have come first. */
export function proposing(due: (state: LearningState) => readonly Proposed[]) {
  return (state: LearningState): LearningDecision => {
    const [event] = due(state);
    const reply = () => ({});
    return event === undefined ? { kind: 'answer', reply } : { kind: 'append', event, reply };
  };
}
