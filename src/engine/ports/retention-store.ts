import type { Token } from '../../contracts/names.js';
import type { RetentionRules, RetentionRun } from '../../contracts/retention-record.js';

/**
 * The rules of retention, and what was done by them last. Of two writers one comes first, and the other decides again on what that
 * one wrote.
 */
export interface RetentionStore {
  /**
   * The rules; none where none were ever set.
   *
   * @throws ThroughlineError `unavailable`, `permission_denied`, `config_invalid` for rules of a newer version
   */
  rules(): Promise<RetentionRules>;

  /** Replaces them by what `next` makes of them; what it throws ends it. Throws as `rules`. */
  changeRules(next: (before: RetentionRules) => RetentionRules): Promise<RetentionRules>;

  /** The last run; `undefined` before the first. Throws as `rules`. */
  run(): Promise<RetentionRun | undefined>;

  /** Replaces it. Throws as `rules`. */
  saveRun(run: RetentionRun): Promise<void>;
}

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
