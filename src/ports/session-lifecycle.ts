import type { Archived, Forgotten } from '../contracts/lifecycle-record.js';
import type { Token } from '../contracts/names.js';

/**
 * What is recorded of sessions beside their events: which are archived, and which were forgotten. Of most sessions
 * nothing is.
 *
 * An implementer must answer from memory, never later than a second after something was recorded by any process while
 * the store can be reached, and at once for what this process has recorded. Before it is handed out it must know all
 * that was recorded until then.
 */
export interface SessionLifecycle {
  /** The record that a session is archived. */
  archived(session: Token): Archived | undefined;

  /** The record that a session is being forgotten, or was: also of a new session of that name. */
  forgotten(session: Token): Forgotten | undefined;

  /**
   * `undefined` where all is known that was recorded until a moment ago. A process that stood still, or was cut off, may have
   * missed a record: then this asks, and resolves once it knows. Throws as `change`.
   */
  refreshed(): Promise<void> | undefined;

  /** Sessions of which something is left to erase. */
  unfinished(): readonly Token[];

  /** Archived sessions whose log still has to give way to their checkpoint. */
  archiving(): readonly Token[];

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: (change: LifecycleChange) => void): () => void;

  /**
   * Changes the record that a session is archived: there is no other way to. What is recorded is read, and what `decide` makes
   * of it is recorded unless another writer came in between: then it is read and decided again.
   *
   * @param decide asked once or more; must depend on nothing that changes meanwhile
   * @returns `false` where it keeps what is there
   * @throws ThroughlineError `unavailable` when the store cannot be reached, `permission_denied`
   */
  change(session: Token, decide: DecideArchived): Promise<boolean>;

  /**
   * Records that a session is being forgotten, and removes every trace of it being archived, unless it may still be
   * spared. Numbers never go down: of an earlier record the higher ones stay. Throws as `change`.
   *
   * @param record may be made of what is recorded until then, in one step with recording it
   * @returns `false` where it makes nothing of that, and nothing was recorded
   */
  forgetting(session: Token, record: ForgottenAt | NextRecord): Promise<boolean>;

  /**
   * Takes back that it is being forgotten: it is archived, or was forgotten before, as it was when it had moved last, at
   * `at`. Throws as `change`.
   *
   * @returns `false` where it must not be spared any longer, and nothing was recorded
   */
  spare(session: Token, at: string): Promise<boolean>;

  /**
   * Records that nothing of it is left: its name goes from the record. Throws as `change`.
   *
   * @param isMine asked about what is recorded until then, in one step with recording it. Default: always
   * @returns `false` where that says no, and nothing was recorded
   */
  forgot(session: Token, at: string, isMine?: (there: Forgotten | undefined) => boolean): Promise<boolean>;

  /**
   * Removes the records of sessions that were forgotten before a time, ISO 8601 in UTC; other processes may keep them in
   * memory. Gives how many. Throws as `change`.
   */
  expire(olderThan: string): Promise<number>;
}

/** What changed. A forgotten session is told by its name only while it is being forgotten. */
export type LifecycleChange =
  | { readonly kind: 'archived' | 'reopened' | 'forgetting'; readonly session: Token }
  | { readonly kind: 'forgotten' };

/** What is recorded of an archived session. */
export type ArchivedAs = Omit<Archived, 'v' | 'status'>;

/** What comes of what is recorded: another record, none, or the same. */
export type DecideArchived = (there: Archived | undefined) => ArchivedAs | 'remove' | 'keep';

/** Where a session is when it is forgotten, as in the record. */
export type ForgottenAt = Omit<Forgotten, 'v' | 'status' | 'session'>;

/** What is recorded next; `undefined` where what there is must stay. */
export type NextRecord = (there: Forgotten | undefined) => ForgottenAt | undefined;
