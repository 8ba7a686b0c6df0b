import type { Token } from '../../contracts/names.js';

/**
 * Keeps the newest snapshot of each key, a session or a project, as opaque text, so that a load replays only newer events.
 *
 * An implementer must refuse a write that is not newer than what it holds, also when two writers come at once; and
 * must give back the text as it was written. A value that is not a snapshot, or that no `save` stored, is passed over
 * for the newest one before it. Losing a snapshot costs time, never truth.
 */
export interface SnapshotStore {
  /** The newest snapshot, or `undefined`. Throws `unavailable` when the store cannot be reached. */
  load(key: Token): Promise<StoredSnapshot | undefined>;

  /**
   * The newest snapshot at or before a sequence, of those still kept, or `undefined`.
   */
  loadAtOrBefore(key: Token, sequence: number): Promise<StoredSnapshot | undefined>;

  /** Stores a snapshot, unless one of the same or a later sequence is there. */
  save(key: Token, snapshot: StoredSnapshot): Promise<SaveOutcome>;
}

/** A store in which another log may take the place of a key's own. */
export interface ReplacingSnapshotStore extends SnapshotStore {
  /**
   * Stores a snapshot in place of all that are there, whatever their sequences: where another log takes the place of the
   * key's own.
   */
  replace(key: Token, snapshot: StoredSnapshot): Promise<Exclude<SaveOutcome, 'older'>>;
}

export interface StoredSnapshot {
  /** Sequence of the last event folded into it. */
  readonly sequence: number;
  readonly text: string;
}

export type SaveOutcome = 'saved' | 'older' | 'too_large';
