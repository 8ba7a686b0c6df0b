import type { Token } from '../contracts/names.js';
import { SESSION_EVENTS, type SessionEvent } from '../contracts/session-events.js';
import type { SessionLog } from '../ports/session-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './event-log.js';

/** The session log in memory. */
export class MemorySessionLog extends MemoryEventLog<SessionEvent> implements SessionLog {
  constructor(options?: MemoryEventLogOptions) {
    super(SESSION_EVENTS, options);
  }

  async sessions(): Promise<Token[]> {
    return this.keys();
  }
}
