import type { Token } from '../contracts/names.js';
import type { SessionEvent } from '../contracts/session-events.js';
import type { EventLog } from './event-log.js';

/** The log of each session. */
export interface SessionLog extends EventLog<SessionEvent> {
  /** All sessions that have a log, sorted by name. */
  sessions(): Promise<Token[]>;
}
