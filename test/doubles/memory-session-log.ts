import type { Token } from '../../src/contracts/names.js';
import { SESSION_EVENTS, type SessionEvent } from '../../src/contracts/session-events.js';
import type { SessionLog } from '../../src/ports/session-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './memory-event-log.js';

/** The session log in memory. */
export class MemorySessionLog extends MemoryEventLog<SessionEvent> implements SessionLog {
  constructor(options?: MemoryEventLogOptions) {
    super(SESSION_EVENTS, options);
  }

  async sessions(): Promise<Token[]> {
    return this.keys();
  }
}
