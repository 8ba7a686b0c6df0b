import type { Archived, Forgotten, RetentionRules, RetentionRun } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { Unwatch } from './session-log.js';

/**
 * Records which sessions are archived or forgotten (tombstones).
 *
 * An implementer must answer from memory, at most a second behind any process while the store can be reached, and immediately
 * after its own writes. It must be complete before it is first used.
 */
export interface SessionLifecycle {
  archived(session: Token): Archived | undefined;

  /** Returns the tombstone of a session, also if its name was used again. */
  forgotten(session: Token): Forgotten | undefined;

  /**
   * Returns `undefined` if the view is current. After a pause or a disconnect it returns a promise that resolves once the
   * records are read again. Throws as `change`.
   */
  refreshed(): Promise<void> | undefined;

  /** Sessions that are not completely erased. */
  unfinished(): readonly Token[];

  /** Archived sessions whose log must still be replaced by their checkpoint. */
  archiving(): readonly Token[];

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: (change: LifecycleChange) => void): () => void;

  /**
   * Changes the record of an archived session by compare-and-set.
   *
   * @param decide pure; called again after each conflict
   * @returns `false` if it decided `keep`
   * @throws ThroughlineError `unavailable` if the store cannot be reached, `permission_denied`
   */
  change(session: Token, decide: DecideArchived): Promise<boolean>;

  /**
   * Records that a session is being forgotten, and removes its archived record. Numbers never decrease: higher ones of an
   * earlier record are kept. Throws as `change`.
   *
   * @param record may be computed from the current record (compare-and-set)
   * @returns `false` if it returned nothing, so that nothing was recorded
   */
  forgetting(session: Token, record: ForgottenAt | NextRecord): Promise<boolean>;

  /**
   * Cancels forgetting: restores the session as it was, archived or forgotten before, last moved at `at`. Throws as `change`.
   *
   * @returns `false` if it can no longer be cancelled
   */
  spare(session: Token, at: string): Promise<boolean>;

  /**
   * Records that a session is erased: its name is removed from the record. Throws as `change`.
   *
   * @param ownsRecord checks the current record (compare-and-set). Default: always true
   * @returns `false` if that returned false, so that nothing was recorded
   */
  forgot(
    session: Token,
    at: string,
    ownsRecord?: (there: Forgotten | undefined) => boolean,
  ): Promise<boolean>;

  /**
   * Removes the tombstones of sessions forgotten before a time, ISO 8601 in UTC, and returns their number; other processes may
   * keep them in memory. Throws as `change`.
   */
  expire(olderThan: string): Promise<number>;
}

/** A session's name is reported only while it is being forgotten. */
export type LifecycleChange =
  | { readonly kind: 'archived' | 'reopened' | 'forgetting'; readonly session: Token }
  | { readonly kind: 'forgotten' };

export type ArchivedAs = Omit<Archived, 'v' | 'status'>;

/** Decides on the next record: another one, none, or no change. */
export type DecideArchived = (there: Archived | undefined) => ArchivedAs | 'remove' | 'keep';

export type ForgottenAt = Omit<Forgotten, 'v' | 'status' | 'session'>;

/** Computes the next tombstone; `undefined` for no change. */
export type NextRecord = (there: Forgotten | undefined) => ForgottenAt | undefined;

/**
 * Reports the newest sequences of logs without reading them.
 *
 * An implementer must show an appended event to every call that starts after the append has resolved.
 */
export interface SessionActivity {
  /**
   * Returns every session that has a log, in any order, including those without a leader: leaving them out would say that they
   * are gone.
   *
   * @throws ThroughlineError `unavailable` if the logs cannot be reached, or if a shared stream has no leader
   */
  activity(): Promise<(ActiveSession | LeaderlessSession)[]>;

  /**
   * Returns the sequence of a session's newest event; 0 for none. A `read` that starts afterwards shows that event.
   *
   * @throws ThroughlineError `unavailable` if the log cannot be reached
   */
  newest(session: Token): Promise<number>;

  /**
   * Calls `onMoved` soon after any process appended an event. Only a hint: it may come before the event can be read, twice, for
   * a refused event, or, while disconnected, not at all.
   *
   * @param onDenied called, possibly repeatedly, if this user may not subscribe
   */
  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch;
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

export function hasLeader(each: ActiveSession | LeaderlessSession): each is ActiveSession {
  return each.sequence !== undefined;
}

/** Kinds of stored data of a session, except learnings. */
export const ERASED_KINDS = [
  'events',
  'dispatches',
  'rejected',
  'snapshots',
  'prompts',
  'telemetry',
  'index',
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];
export type ErasedCounts = Readonly<Record<ErasedKind, number>>;

export const NOTHING_ERASED = Object.fromEntries(ERASED_KINDS.map((kind) => [kind, 0])) as Record<
  ErasedKind,
  0
>;

/** High-water marks: a new session of the same name starts behind them. */
export interface Marks {
  /** Last sequence of the dispatch stream. */
  readonly dispatches: number;
  /** Last sequence of the stream with the session's events; 0 without one. */
  readonly sequence: number;
}

/** The session's newest stored messages; times are ISO 8601 in UTC. */
export interface LastMoved {
  /** Sequence of its newest event; 0 for none. */
  readonly sequence: number;
  readonly at?: string;
  /** Publication of its newest result that is still stored. */
  readonly dispatchedAt?: string;
}

/**
 * Erases everything stored of a session, from streams, buckets and the store's files.
 *
 * An implementer must not change other sessions' data, but may drop their replaced values. Erasing is idempotent and cheap to
 * repeat, so that an interrupted call can be made again.
 */
export interface SessionEraser {
  /** Throws `permission_denied` if it may not erase. */
  check(): Promise<void>;

  marks(session: Token): Promise<Marks>;

  /** Returns the highest dispatch that events after a sequence refer to; 0 for none. Throws as `count`. */
  newestNamed(session: Token, after: number): Promise<number>;

  /** Returns the newest event and the newest stored result, folded or not. Throws as `count`. */
  lastMoved(session: Token): Promise<LastMoved>;

  /** Counts the session's messages by kind. Throws `unavailable`, `permission_denied`. */
  count(session: Token): Promise<ErasedCounts>;

  /**
   * Erases the session's results up to `dispatches` and everything else regardless of age. Returns the numbers. Throws as
   * `count`; messages erased by then are gone.
   *
   * @param onErased reports progress
   */
  erase(
    session: Token,
    marks: Pick<Marks, 'dispatches'>,
    onErased?: (kind: ErasedKind, messages: number) => void,
  ): Promise<ErasedCounts>;

  /** Rewrites the files of these kinds without replaced and purged values: once after erasing any number of sessions. */
  rewrite(kinds: readonly RewrittenKind[]): Promise<void>;
}

/** Kinds whose values are replaced while a session lives. */
export type RewrittenKind = 'snapshots' | 'prompts' | 'telemetry' | 'index' | 'learnings' | 'lifecycle';

export interface LearningEraser {
  /**
   * Erases the events of a project before a checkpoint, the project's snapshots, and the vectors of some learnings. Throws
   * `unavailable`, `permission_denied`.
   */
  eraseLearnings(
    project: Token,
    erased: { readonly before: number; readonly vectors: readonly string[] },
  ): Promise<void>;
}

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
