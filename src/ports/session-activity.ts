import type { Token } from '../contracts/names.js';
import type { Unwatch } from './event-log.js';

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
