import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import { evolveLearnings } from '../../memory/learnings/evolve-learnings.js';
import { decodeLearnings, encodeLearnings } from '../../memory/learnings/learnings-snapshot.js';
import { emptyLearnings, type LearningState, learningBytes } from '../../memory/learnings/learnings-state.js';
import type { Commander } from './commander.js';
import type { Folding } from './folding.js';
import type { StateReader } from './state-reader.js';

export type ProjectReader = StateReader<LearningState, LearningEvent>;
export type ProjectCommander = Commander<LearningState, LearningEvent>;

export const PROJECT_FOLDING: Folding<LearningState, LearningEvent> = {
  format: LEARNING_EVENTS,
  empty: emptyLearnings,
  evolve: evolveLearnings,
  bytes: learningBytes,
  encode: encodeLearnings,
  decode: decodeLearnings,
};
