import type { Archived, Forgotten, LifecycleRecord } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';

/**
 * Records which sessions are archived or forgotten (tombstones), one record per session.
 *
 * An implementer must answer from memory, at most a second behind any process while the store can be reached, and immediately
 * after its own writes. It must be complete before it is first used. A tombstone expires after `TOMBSTONE_MS`.
 */
export interface SessionLifecycle {
  archived(session: Token): Archived | undefined;

  /** Returns the tombstone of a session, also if its name was used again. */
  forgotten(session: Token): Forgotten | undefined;

  /** Returns a promise that resolves once the records are read again; `undefined` if they are current. Throws as `change`. */
  refreshed(): Promise<void> | undefined;

  /** Sessions that are not completely erased. */
  unfinished(): readonly Token[];

  /** Archived sessions whose log must still be replaced by their checkpoint. */
  archiving(): readonly Token[];

  /** Calls `listener` when a session begins to be forgotten, and once it is, until the returned function is called. */
  onForgotten(listener: (session: Token) => void): () => void;

  /**
   * Changes the record of a session by compare-and-set, and returns it as it is then. The name is recorded while the session is
   * archived or being forgotten.
   *
   * @param next pure, or throws; called again after each conflict. It returns the given object to change nothing
   * @throws ThroughlineError `unavailable` if the store cannot be reached, `permission_denied`; the error of `next`
   */
  change(session: Token, next: (there: SessionRecord) => SessionRecord): Promise<SessionRecord>;
}

export type SessionRecord = Pick<LifecycleRecord, 'archived' | 'forgotten'>;

/** No operation on a forgotten session can be in progress after this time, however long a process was suspended. */
export const TOMBSTONE_MS = 7 * 86_400_000;

/** The part of the lifecycle records that stores need. */
export type ForgottenSessions = Pick<SessionLifecycle, 'forgotten' | 'refreshed'>;

export const ERASED_KINDS = ['events', 'dispatches', 'rejected', 'snapshots', 'prompts', 'index'] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];
export type ErasedCounts = Readonly<Record<ErasedKind, number>>;

/** High-water marks: a new session of the same name starts behind them. */
export interface Marks {
  /** Last sequence of the dispatch stream before a time. */
  readonly dispatches: number;
  /** Last sequence of the stream with the session's events, or of its snapshot; 0 without either. */
  readonly sequence: number;
}
