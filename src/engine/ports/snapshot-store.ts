import type { Token } from '../../contracts/names.js';

/**
 * Stores the snapshots of each session or project as opaque text, so that a load replays only newer events. Losing one costs
 * time, never truth.
 *
 * An implementer must refuse a write that is not newer than the stored one (compare-and-set) and return the text unchanged. A
 * value that no `save` stored is skipped in favour of the newest one before it.
 */
export interface SnapshotStore {
  /** Returns the newest snapshot, if any. Throws `unavailable` if the store cannot be reached. */
  load(key: Token): Promise<StoredSnapshot | undefined>;

  /** Returns the newest stored snapshot at or before a sequence, if any. */
  loadAtOrBefore(key: Token, sequence: number): Promise<StoredSnapshot | undefined>;

  /** Stores a snapshot, unless one of the same or a later sequence is stored. */
  save(key: Token, snapshot: StoredSnapshot): Promise<SaveOutcome>;
}

export interface ReplacingSnapshotStore extends SnapshotStore {
  /** Replaces all snapshots whatever their sequences, because another log replaces the key's own. */
  replace(key: Token, snapshot: StoredSnapshot): Promise<Exclude<SaveOutcome, 'older'>>;
}

export interface StoredSnapshot {
  readonly sequence: number;
  readonly text: string;
}

export type SaveOutcome = 'saved' | 'older' | 'too_large';
