import { LEARNING_EVENTS, type LearningEvent } from '../../src/contracts/learning-events.js';
import type { Token } from '../../src/contracts/names.js';
import type { LearningLog } from '../../src/engine/ports/session-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './memory-event-log.js';

export class MemoryLearningLog extends MemoryEventLog<LearningEvent> implements LearningLog {
  constructor(options?: MemoryEventLogOptions) {
    super(LEARNING_EVENTS, options);
  }

  async projects(): Promise<Token[]> {
    return this.keys();
  }
}
