import type { Token } from '../contracts/names.js';
import type { SessionEvent, StoredEvent } from '../contracts/session-events.js';

/**
 * The append-only log of each session.
 *
 * An implementer must
 * - give each event a sequence that is higher than that of every earlier event of the session; gaps are allowed, and
 *   callers must not read anything into them;
 * - have an event stored, as durably as it ever will be, before `append` resolves;
 * - make a session's log on the first append, whoever comes first;
 * - show an appended event to every `read` that starts after the append has resolved.
 *
 * It must not reorder events, nor drop one that it could read; a message that is no valid event is left out of what
 * `read` gives, but counts in `through`.
 */
export interface SessionLog {
  /**
   * Appends one event.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached; the event may or may not be stored then
   */
  append(session: Token, event: SessionEvent, options?: AppendOptions): Promise<Appended>;

  /**
   * Reads the events after `after`, oldest first. A session that does not exist has none.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached
   */
  read(session: Token, range: ReadRange): Promise<ReadResult>;

  /**
   * Calls `onEvent` soon after an event was appended to the session by anybody: a hint to read, no more; it may come
   * a moment before the event can be read, twice, or, while disconnected, not at all.
   */
  watch(session: Token, onEvent: () => void): Unwatch;

  /** All sessions that have a log, sorted by name. */
  sessions(): Promise<Token[]>;
}

export interface AppendOptions {
  /** Append only if this is the sequence of the session's last event; 0 for a session without events. */
  readonly expectedSequence?: number;
  /** A repetition with the same id within the log's dedupe window is not stored again: an optimisation only. */
  readonly messageId?: string;
}

export type Appended =
  | { readonly outcome: 'appended'; readonly sequence: number; readonly duplicate: boolean }
  /** Another event came first: `expectedSequence` was not the last one. */
  | { readonly outcome: 'conflict' };

export interface ReadRange {
  /** Sequence after which to start; 0 for the beginning. */
  readonly after: number;
  /** Last sequence to read; everything by default. */
  readonly through?: number;
}

export interface ReadResult {
  readonly events: readonly StoredEvent[];
  /** Sequence up to which the session has now been read: pass it as the next `after`. */
  readonly through: number;
  /** Messages that were no valid events. */
  readonly skipped: number;
}

export type Unwatch = () => void;
