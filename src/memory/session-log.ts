import type { Token } from '../contracts/names.js';
import { parseSessionEvent, type SessionEvent } from '../contracts/session-events.js';
import type { SessionLog } from '../ports/session-log.js';
import { MemoryEventLog, type MemoryEventLogOptions } from './event-log.js';

/** The session log in memory. */
export class MemorySessionLog extends MemoryEventLog<SessionEvent> implements SessionLog {
  constructor(options?: MemoryEventLogOptions) {
    super(parseSessionEvent, options);
  }

  async sessions(): Promise<Token[]> {
    return this.keys();
  }
}
