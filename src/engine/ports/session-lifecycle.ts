import { beingForgotten } from '../../contracts/errors.js';
import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
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

/**
 * Returns the generation of a session: it changes when the session is forgotten, so that what was read before is not used.
 *
 * @throws ThroughlineError `session_forgotten` while it is being forgotten
 */
export function generationOf(lifecycle: Pick<SessionLifecycle, 'forgotten'>, session: Token): string {
  const record = lifecycle.forgotten(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
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
  /** Last sequence of the dispatch stream before a time. */
  readonly dispatches: number;
  /** Last sequence of the stream with the session's events, or of its snapshot; 0 without either. */
  readonly sequence: number;
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

  /** @param until ISO 8601 in UTC, in the past: results stored before it belong to the session. Throws as `count` */
  marks(session: Token, until: string): Promise<Marks>;

  /** Returns the time of the session's newest stored result, folded or not: ISO 8601 in UTC. Throws as `count`. */
  lastResultAt(session: Token): Promise<string | undefined>;

  /** Counts the session's messages by kind. Throws `unavailable`, `permission_denied`. */
  count(session: Token): Promise<ErasedCounts>;

  /**
   * Erases the session's results and events up to the marks, and everything else. Returns the numbers. Throws as `count`;
   * messages erased by then are gone.
   */
  erase(session: Token, marks: Marks): Promise<ErasedCounts>;

  /**
   * Rewrites files without replaced and purged values: the stream of prompts, all buckets with values of sessions, or the
   * bucket of the lifecycle records. Once for any number of sessions.
   */
  rewrite(what: 'prompts' | 'buckets' | 'lifecycle'): Promise<void>;

  /**
   * Erases the events of a project before a checkpoint, and the project's snapshots. Throws `unavailable`,
   * `permission_denied`.
   */
  eraseLearnings(project: Token, before: number): Promise<void>;
}
