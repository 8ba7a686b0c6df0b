import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { Unwatch } from './session-log.js';

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

/**
 * How far the logs of sessions have come, without reading one: tells which have moved, and where reading back begins.
 *
 * An implementer must show an appended event to every call that starts after the append has resolved.
 */
export interface SessionActivity {
  /**
   * Every session that has a log, in any order. One whose log has no leader is among them: to leave it out would say that
   * it is gone.
   *
   * @throws ThroughlineError `unavailable` when the logs cannot be reached, or when what holds several of
   * them has no leader: their names are not known then
   */
  activity(): Promise<(ActiveSession | LeaderlessSession)[]>;

  /**
   * Sequence of a session's newest event; 0 for a session without any. A `read` of the same port that starts once this
   * has resolved shows that event.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached
   */
  newest(session: Token): Promise<number>;

  /**
   * Calls `onMoved` soon after any process appended an event to any session. It is only a hint: it may come a moment
   * before the event can be read, twice, for an event that was refused, or, while disconnected, not at all.
   *
   * @param onDenied called, also again and again, where this user may not hear of events
   */
  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch;
}

export interface ActiveSession {
  readonly session: Token;
  /** Sequence of its newest message, whatever it holds; 0 for an empty log. */
  readonly sequence: number;
  /** When that was stored, or of an empty log when it was made: ISO 8601 in UTC. */
  readonly at: string;
}

/** A session whose log no server of the cluster leads now: it is there, and nobody can say how far it has come. */
export interface LeaderlessSession {
  readonly session: Token;
  readonly sequence: undefined;
}

export function hasLeader(each: ActiveSession | LeaderlessSession): each is ActiveSession {
  return each.sequence !== undefined;
}

/** What is stored of a session, beside learnings. */
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

export const NOTHING_ERASED: ErasedCounts = {
  events: 0,
  dispatches: 0,
  rejected: 0,
  snapshots: 0,
  prompts: 0,
  telemetry: 0,
  index: 0,
};

/** Numbers behind which a new session of the name begins. */
export interface Marks {
  /** Last sequence of the stream of dispatches. */
  readonly dispatches: number;
  /** Last sequence of the stream that holds the session's events; 0 without one. */
  readonly sequence: number;
}

/** When something of a session was stored last; times are ISO 8601 in UTC. */
export interface LastMoved {
  /** Sequence of its newest event; 0 without any. */
  readonly sequence: number;
  readonly at?: string;
  /** When the newest result of it was published, of those that are still stored. */
  readonly dispatchedAt?: string;
}

/**
 * Removes all that is stored of a session, so that neither a reader of streams and buckets finds it, nor one of the
 * store's files.
 *
 * An implementer must leave what is stored of other sessions as it is, but may drop replaced values of theirs. To erase
 * again what is erased must be cheap, and harm nothing: a call that was cut short is made again.
 */
export interface SessionEraser {
  /** Throws `permission_denied` where it may not erase, before anything is begun. */
  check(): Promise<void>;

  marks(session: Token): Promise<Marks>;

  /** The highest dispatch that its events after a sequence name; 0 for none. Throws as `count`. */
  newestNamed(session: Token, after: number): Promise<number>;

  /** Its newest event, and the newest result of it that is stored, whether it is an event yet or not. Throws as `count`. */
  lastMoved(session: Token): Promise<LastMoved>;

  /** How many messages are stored of it, by kind. Throws `unavailable`, `permission_denied`. */
  count(session: Token): Promise<ErasedCounts>;

  /**
   * Erases its results up to `dispatches`, and its events, snapshots and all else, whenever they came. Gives how many.
   * Throws as `count`; what was erased by then is gone.
   *
   * @param onErased told of each step how much of what is gone
   */
  erase(
    session: Token,
    marks: Pick<Marks, 'dispatches'>,
    onErased?: (kind: ErasedKind, messages: number) => void,
  ): Promise<ErasedCounts>;

  /**
   * Erases its events, in the files as well, and removes what is made of them: snapshots, and the entry in the index, which
   * `rewrite` takes out of the files. Throws as `count`.
   */
  eraseLog(session: Token): Promise<void>;

  /**
   * Takes out of the store's files what was replaced or purged there before: once after any number of sessions were erased.
   *
   * @param kinds of which something was erased, or was replaced before
   */
  rewrite(kinds: readonly RewrittenKind[]): Promise<void>;
}

/** Kinds whose values are replaced by newer ones while a session lives. */
export type RewrittenKind = 'snapshots' | 'prompts' | 'telemetry' | 'index' | 'learnings' | 'lifecycle';

/** Removes what was stored of learnings. */
export interface LearningEraser {
  /**
   * Erases the events of a project before a checkpoint, the snapshots of the project, and the vectors of some learnings.
   * Throws `unavailable`, `permission_denied`.
   */
  eraseLearnings(
    project: Token,
    erased: { readonly before: number; readonly vectors: readonly string[] },
  ): Promise<void>;
}
