import type { Token } from '../../contracts/names.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';

/** The part of the lifecycle records that stores need. */
export type ForgottenSessions = Pick<SessionLifecycle, 'forgotten' | 'refreshed'>;

export const NONE_FORGOTTEN: ForgottenSessions = { forgotten: () => undefined, refreshed: () => undefined };

/**
 * Returns the sequence up to which data of a session must not be kept: its last one when it was forgotten, everything while it
 * is being forgotten, 0 if it never was.
 */
export function minRetainedSequence(lifecycle: ForgottenSessions): (session: Token) => number {
  return (session) => {
    const record = lifecycle.forgotten(session);
    if (record === undefined) return 0;
    return record.status === 'forgetting' ? Number.MAX_SAFE_INTEGER : record.sequence;
  };
}

/** Returns the sequence above which a session's next log starts; 0 if it was never forgotten. */
export function firstSequenceAbove(lifecycle: ForgottenSessions): (session: Token) => number {
  return (session) => lifecycle.forgotten(session)?.sequence ?? 0;
}
