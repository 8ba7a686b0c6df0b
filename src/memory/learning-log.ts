import { LEARNING_EVENTS, type LearningEvent } from '../contracts/learning-events.js';
import type { Token } from '../contracts/names.js';
import type { LearningLog } from '../ports/learning-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './event-log.js';

/** The learning log in memory. */
export class MemoryLearningLog extends MemoryEventLog<LearningEvent> implements LearningLog {
  constructor(options?: MemoryEventLogOptions) {
    super(LEARNING_EVENTS, options);
  }

  async projects(): Promise<Token[]> {
    return this.keys();
  }
}
