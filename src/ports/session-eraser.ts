import type { Token } from '../contracts/names.js';

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
