import type { Token } from '../contracts/names.js';

/** Streams whose messages go by age. */
export type AgedKind = 'dispatches' | 'rejected';

/**
 * Messages that are removed by age, whole stream or session by session.
 *
 * An implementer must never remove what one of the services has still to deal with, however old it is.
 */
export interface AgedMessages {
  /** Throws `unavailable`, `permission_denied`. */
  look(kind: AgedKind): Promise<AgedStream>;
}

/** The stream as it was when it was looked at. What came after that is not touched. */
export interface AgedStream {
  /** When its oldest message was stored, ISO 8601 in UTC. */
  readonly oldest?: string;
  /** Why nothing of it can be removed now. */
  readonly held?: string;
  /** Sessions that have messages in it. */
  sessions(): Promise<readonly Token[]>;
  /** How many messages were stored before a time, of one session or of all. */
  count(before: string, session?: Token): Promise<number>;
  /** Removes them. Gives how many. Throws as `look`. */
  remove(before: string, session?: Token): Promise<number>;
}
