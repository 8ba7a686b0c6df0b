import type { Token } from '../../contracts/names.js';
import type { RetentionRules, RetentionRun } from '../../contracts/retention-record.js';

/** The retention rules and the last run. Concurrent writers use compare-and-set: the loser decides again. */
export interface RetentionStore {
  /** Throws ThroughlineError `unavailable`, `permission_denied`, or `config_invalid` for rules of a newer version. */
  rules(): Promise<RetentionRules>;

  /** Replaces the rules by `next(before)`; an error of `next` cancels the change. Throws as `rules`. */
  changeRules(next: (before: RetentionRules) => RetentionRules): Promise<RetentionRules>;

  /** Returns the last run, or `undefined` before the first. Throws as `rules`. */
  run(): Promise<RetentionRun | undefined>;

  /** Throws as `rules`. */
  saveRun(run: RetentionRun): Promise<void>;
}

/** Streams with retention by age. */
export type AgedKind = 'dispatches' | 'rejected';

/**
 * Removes messages by age, for a whole stream or one session. An implementer must never remove a message that a service has
 * still to process.
 */
export interface AgedMessages {
  /** Takes a snapshot of a stream's bounds. Throws `unavailable`, `permission_denied`. */
  look(kind: AgedKind): Promise<AgedStream>;
}

/** A stream at the time of the look; later messages are not touched. */
export interface AgedStream {
  /** Time of its oldest message, ISO 8601 in UTC. */
  readonly oldest?: string;
  /** The reason why nothing can be removed now. */
  readonly held?: string;
  /** Returns the sessions with messages in it. */
  sessions(): Promise<readonly Token[]>;
  /** Counts the messages stored before a time. */
  count(before: string, session?: Token): Promise<number>;
  /** Removes the messages stored before a time and returns their number. Throws as `look`. */
  remove(before: string, session?: Token): Promise<number>;
}
