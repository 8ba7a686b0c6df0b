import type { Token } from '../../contracts/names.js';
import type { SessionIndexEntry } from '../../contracts/session-file.js';

/**
 * What a list shows of each session, kept so that no session is folded for it. Losing it costs time, never truth.
 *
 * An implementer must refuse an entry that is not newer than what it holds, also when two writers come at once, and must
 * pass over any value that it did not write itself.
 */
export interface SessionIndex {
  /**
   * Names the index as it is now: another name once everything in it was lost, `undefined` while there is none.
   *
   * @throws ThroughlineError `unavailable` when the index cannot be reached
   */
  epoch(): Promise<string | undefined>;

  /**
   * The entries that were written after `after`, in any number of parts; 0 gives all.
   *
   * @throws ThroughlineError `unavailable` when the index cannot be reached
   */
  read(after: number): AsyncIterable<IndexPart>;

  /** Told of each entry soon after it was written, or not at all while disconnected; one may come twice. */
  watch(listener: IndexListener): Unwatch;

  /**
   * Writes the entry of a session, unless one of the same or a later sequence is there.
   *
   * @throws ThroughlineError `unavailable` when it is not known to be stored
   */
  put(entry: SessionIndexEntry): Promise<'saved' | 'older'>;

  /** Removes the entry of a session without a trace. Throws `unavailable` when it is not known to be gone. */
  remove(session: Token): Promise<void>;
}

export interface IndexPart {
  readonly entries: readonly SessionIndexEntry[];
  /** Pass it as the next `after`. */
  readonly through: number;
}

export interface IndexListener {
  readonly written: (entry: SessionIndexEntry) => void;
  readonly removed: (session: Token) => void;
}

type Unwatch = () => void;
