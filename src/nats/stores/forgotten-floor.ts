import { beingForgotten } from '../../contracts/errors.js';
import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';

/** The records of sessions that were forgotten. */
export interface ForgottenSessions {
  readonly of: (session: Token) => Forgotten | undefined;
  /** As `SessionLifecycle.refreshed`. */
  readonly refreshed: () => Promise<void> | undefined;
}

export const NONE_FORGOTTEN: ForgottenSessions = { of: () => undefined, refreshed: () => undefined };

/**
 * Sequence up to which nothing of a session may be kept any longer: that of its events when it was forgotten, and any while
 * that goes on; 0 for one that never was.
 */
export function keptAbove({ of }: ForgottenSessions): (session: Token) => number {
  return (session) => {
    const record = of(session);
    if (record === undefined) return 0;
    return record.status === 'forgetting' ? Number.MAX_SAFE_INTEGER : record.sequence;
  };
}

/** Sequence that a session's next log begins above; 0 for one that never was forgotten. */
export function beginsAbove({ of }: ForgottenSessions): (session: Token) => number {
  return (session) => of(session)?.sequence ?? 0;
}

/**
 * Names the life that a session leads: another one after it was forgotten.
 *
 * @throws ThroughlineError `session_forgotten` while it is being forgotten
 */
export function lifeOf({ of }: Pick<ForgottenSessions, 'of'>, session: Token): string {
  const record = of(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
}
