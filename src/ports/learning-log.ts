import type { LearningEvent } from '../contracts/learning-events.js';
import type { Token } from '../contracts/names.js';
import type { EventLog } from './event-log.js';

/** The log of each project's learnings. */
export interface LearningLog extends EventLog<LearningEvent> {
  /** All projects that have a learning or a proposal, sorted by name. */
  projects(): Promise<Token[]>;
}
