import type { DecidedOn, Stored } from '../../contracts/event.js';
import type { LearningEvent } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import type { SessionEvent } from '../../contracts/session-events.js';

/** The log of each session. */
export interface SessionLog extends EventLog<SessionEvent> {
  /** All sessions that have a log, sorted by name. */
  sessions(): Promise<Token[]>;
}

/**
 * Append-only logs, one for each key: a session, or a project.
 *
 * An implementer must
 * - give each event a sequence that is higher than that of every earlier event of the key; gaps are allowed, and
 *   callers must not read anything into them;
 * - have an event stored, as durably as it ever will be, before `append` resolves;
 * - make a key's log on the first append, by any writer;
 * - show an appended event to every `read` that starts after the append has resolved;
 * - when a log is removed and made again, give higher sequences than the newest snapshot of the key has.
 *
 * It must not reorder events, nor drop one that it could read. `read` leaves out a message that is not a valid event,
 * but counts it in `through`.
 */
export interface EventLog<Event> {
  /**
   * Appends one event.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached; the event may or may not be stored then
   */
  append(key: Token, event: Event, options?: AppendOptions): Promise<Appended>;

  /**
   * Reads the events after `after`, oldest first. A key that does not exist has none. A type costs only what it reads.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached
   */
  read(key: Token, range: ReadRange): Promise<ReadResult<Event>>;

  /**
   * Calls `onEvent` soon after any process appended an event to the key. It is only a hint to read: it may come a
   * moment before the event can be read, twice, or, while disconnected, not at all.
   */
  watch(key: Token, onEvent: () => void): Unwatch;
}

/** What an event log can do beside, for those who look after it. */
export interface EventRemoval {
  /**
   * Removes everything before a sequence, and gives how many messages that were. What is at the sequence must stand for
   * it: a reader that comes later begins there. Asked again, it removes what is left.
   *
   * Where keys share files, messages go one by one, the oldest first, since each is overwritten: forgetting the key later
   * could not reach them. That takes as long as erasing does, and leaves half of the time to others.
   *
   * @throws ThroughlineError `unavailable` when the log cannot be reached, `permission_denied`
   */
  removeBefore(key: Token, sequence: number, options?: RemovalOptions): Promise<number>;
}

export interface RemovalOptions {
  /** Told how many messages are gone, and of how many, where they go one by one. */
  readonly onRemoved?: (removed: number, of: number) => void;
  /** Asked before each step: where it throws, what is left stays. */
  readonly mayGoOn?: () => Promise<void> | undefined;
}

export interface AppendOptions {
  /** Append only if this is the sequence of the key's last event; 0 for a key without events. */
  readonly expectedSequence?: number;
  /**
   * Append whatever came in between, and have the event say on which sequence it was decided: the fold finds whether it
   * counts. Not together with `expectedSequence`.
   */
  readonly decidedOn?: number;
  /** What the event says of its place instead: that of an event which is copied from another log. */
  readonly decided?: DecidedOn;
  /**
   * Whether it may be stored together with others that are appended in the same turn of the event loop: then the sequence
   * that it is said to have may be too high, by what came into the log's stream in the same moment. Default: not.
   */
  readonly together?: boolean;
  /** A repetition with the same id within the log's dedupe window is not stored again: an optimisation only. */
  readonly messageId?: string;
}

export type Appended =
  | { readonly outcome: 'appended'; readonly sequence: number; readonly duplicate: boolean }
  /** Another event came first: `expectedSequence` was not the last one. */
  | { readonly outcome: 'conflict' };

export interface ReadRange {
  /** Sequence after which to start; 0 for the beginning. */
  readonly after: number;
  /** Last sequence to read; everything by default. */
  readonly through?: number;
  /** Most messages to read; `through` is then the last of them. Everything by default. */
  readonly limit?: number;
  /**
   * Only events of this type, as if there were no others: `through` is the last one of them. Of replicas that lag
   * behind, such a read may miss what was appended a moment ago.
   */
  readonly type?: string;
  /** Only commands, as if nothing else were there; in the order of the log, with none left out before `through`. */
  readonly commands?: boolean;
}

export interface ReadResult<Event> {
  readonly events: readonly Stored<Event>[];
  /** Sequence up to which the key has now been read: pass it as the next `after`. */
  readonly through: number;
  /** Messages that were not valid events. */
  readonly skipped: number;
  /**
   * Names the log for as long as it is there; none while there is no log. When it changes, the log was removed, and
   * what was folded from it is no longer valid: fold again, from the newest snapshot. An implementer must notice
   * within seconds.
   */
  readonly epoch?: string;
}

export type Unwatch = () => void;

/** The log of each project's learnings. */
export interface LearningLog extends EventLog<LearningEvent> {
  /** All projects that have a learning or a proposal, sorted by name. */
  projects(): Promise<Token[]>;
}
