import type { Stored } from '../../contracts/event.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import type { SessionIndexEntry } from '../../contracts/replies/session-reply.js';
import type { SessionEvent } from '../../contracts/session-events.js';

export type SessionLog = EventLog<SessionEvent>;

export interface NewestResults {
  /**
   * Returns the newest message at each place of the session's results, valid or not: what appends there expect. A lagging
   * replica may answer. Throws `unavailable` if the log cannot be reached.
   */
  newestResults(session: Token): Promise<readonly NewestAt[]>;
}

export interface NewestAt {
  readonly path: string;
  readonly sequence: number;
  /** `undefined` for a message that is not a valid event. */
  readonly event: SessionEvent | undefined;
}

/**
 * Append-only logs by key: a session or a project.
 *
 * An implementer must
 * - assign increasing sequences per key; gaps are allowed and mean nothing;
 * - store an event durably before `append` resolves;
 * - create a key's log on the first append, by any writer;
 * - show an appended event to every `read` that starts after the append has resolved;
 * - start above the newest snapshot's sequence when a removed log is created again.
 *
 * It must not reorder or drop valid events. `read` skips a message that is not a valid event, but counts it in `through`.
 */
export interface EventLog<Event> {
  /** Appends one event. Throws `unavailable` if the log cannot be reached; the event may or may not be stored then. */
  append(key: Token, event: Event, options?: AppendOptions): Promise<Appended>;

  /** Reads the events after `after`, oldest first; none if the key does not exist. Throws `unavailable`. */
  read(key: Token, range: ReadRange): Promise<ReadResult<Event>>;

  /** Returns the sequence of the newest event, which a later `read` shows; 0 for none. Throws `unavailable`. */
  newest(key: Token): Promise<number>;

  /** Calls `onEvent` soon after an append to the key. Only a hint: it may come too early, twice or, if disconnected, never. */
  watch(key: Token, onEvent: () => void): Unwatch;
}

/**
 * Reports the newest sequences of logs without reading them.
 *
 * An implementer must show an appended event to every call that starts after the append has resolved.
 */
export interface SessionActivity {
  /**
   * Returns every session that has a log, in any order, including those without a leader: leaving them out would say that they
   * are gone. Throws `unavailable` if the logs cannot be reached, or if a shared stream has no leader.
   */
  activity(): Promise<(ActiveSession | LeaderlessSession)[]>;

  /** Calls `onMoved` soon after an append. Only a hint: it may come early, twice, for a refused event or, if offline, never. */
  follow(onMoved: (session: Token) => void): Unwatch;
}

export interface ActiveSession {
  readonly session: Token;
  /** Sequence of its newest message, valid or not; 0 for an empty log. */
  readonly sequence: number;
  /** Time of that message, or of the creation of an empty log: ISO 8601 in UTC. */
  readonly at: string;
}

/** A session whose log currently has no leader in the cluster: its sequence is unknown. */
export interface LeaderlessSession {
  readonly session: Token;
  readonly sequence: undefined;
}

export function hasLeader(session: ActiveSession | LeaderlessSession): session is ActiveSession {
  return session.sequence !== undefined;
}

export interface EventRemoval {
  /**
   * Removes everything before a sequence, and returns the number of messages. The event at the sequence must be a checkpoint:
   * later readers begin there. Idempotent.
   *
   * If keys share files, messages are overwritten one by one, oldest first, because forgetting the key later could not reach
   * them. That takes as long as erasing does and yields half of the time to other work.
   *
   * @throws ThroughlineError `unavailable` if the log cannot be reached, `permission_denied`
   */
  removeBefore(key: Token, sequence: number, mayGoOn?: () => void): Promise<number>;
}

export interface AppendOptions {
  /**
   * Optimistic concurrency: append only if this is the sequence of the newest event that the format expects at this place; 0
   * for none. Of a session: the newest command for a command, the newest at its own place for a result.
   */
  readonly expectedSequence?: number;
  /** Idempotency key within the log's dedupe window: an optimisation only. */
  readonly messageId?: string;
}

export type Appended =
  | { readonly outcome: 'appended'; readonly sequence: number }
  /** `expectedSequence` was not the newest one. */
  | { readonly outcome: 'conflict' };

export interface ReadRange {
  /** Exclusive start; 0 for the beginning. */
  readonly after: number;
  /** Inclusive end. Default: everything. */
  readonly through?: number;
  /** Maximum number of messages; `through` is then the last of them. Default: everything. */
  readonly limit?: number;
  /** Only events at places such as `command.>`; `through` is the last of them. A lagging replica may miss the newest. */
  readonly at?: string;
}

export interface ReadResult<Event> {
  readonly events: readonly Stored<Event>[];
  /** Cursor: pass it as the next `after`. */
  readonly through: number;
  readonly skipped: number;
  /** Sequence of the newest message at the places of commands, valid or not: what the next command expects. */
  readonly newestCommand?: number;
  /**
   * Identifies the log; `undefined` while there is none. A change means that the log was removed: discard what was folded from
   * it and start from the newest snapshot. An implementer must notice within seconds.
   */
  readonly epoch?: string;
}

export type Unwatch = () => void;

export interface LearningLog extends EventLog<LearningEvent> {
  /** Returns all projects with a learning or a proposal, sorted by name. */
  projects(): Promise<Token[]>;
}

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

export interface StoredSnapshot {
  readonly sequence: number;
  readonly text: string;
}

export type SaveOutcome = 'saved' | 'older' | 'too_large';

/**
 * A cache of list entries, so that listing sessions folds none. Losing it costs time, never truth.
 *
 * An implementer must refuse an entry that is not newer than the stored one (compare-and-set), and must skip values that it
 * did not write itself.
 */
export interface SessionIndex {
  /** Identifies the index: changes when its contents are lost; `undefined` while it does not exist. Throws `unavailable`. */
  epoch(): Promise<string | undefined>;

  /** Returns the entries written after the cursor `after`, in parts; 0 returns all. Throws as `epoch`. */
  read(after: number): AsyncIterable<IndexPart>;

  /** Announces written entries. Hints may be repeated, or lost while disconnected. */
  watch(listener: IndexListener): Unwatch;

  /** Writes an entry, unless one of the same or a later sequence is stored. Throws `unavailable` if it may not be stored. */
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
