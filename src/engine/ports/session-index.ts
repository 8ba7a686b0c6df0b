import type { Token } from '../../contracts/names.js';
import type { SessionIndexEntry } from '../../contracts/session-file.js';

/**
 * A cache of list entries, so that listing sessions folds none. Losing it costs time, never truth.
 *
 * An implementer must refuse an entry that is not newer than the stored one (compare-and-set), and must skip values that it
 * did not write itself.
 */
export interface SessionIndex {
  /**
   * Identifies the index: changes when its contents are lost; `undefined` while it does not exist.
   *
   * @throws ThroughlineError `unavailable` if the index cannot be reached
   */
  epoch(): Promise<string | undefined>;

  /** Returns the entries written after the cursor `after`, in parts; 0 returns all. Throws as `epoch`. */
  read(after: number): AsyncIterable<IndexPart>;

  /** Announces written entries. Hints may be repeated, or lost while disconnected. */
  watch(listener: IndexListener): Unwatch;

  /**
   * Writes the entry of a session, unless one of the same or a later sequence is stored.
   *
   * @throws ThroughlineError `unavailable` if it may not be stored
   */
  put(entry: SessionIndexEntry): Promise<'saved' | 'older'>;

  /** Removes the entry of a session, leaving no tombstone. Throws `unavailable` if it may still be there. */
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
