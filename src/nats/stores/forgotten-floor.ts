import { beingForgotten } from '../../contracts/errors.js';
import type { Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';

export interface ForgottenSessions {
  readonly of: (session: Token) => Forgotten | undefined;
  /** See `SessionLifecycle.refreshed`. */
  readonly refreshed: () => Promise<void> | undefined;
}

export const NONE_FORGOTTEN: ForgottenSessions = { of: () => undefined, refreshed: () => undefined };

/**
 * Returns the sequence up to which data of a session must not be kept: its last one when it was forgotten, everything while it
 * is being forgotten, 0 if it never was.
 */
export function minRetainedSequence({ of }: ForgottenSessions): (session: Token) => number {
  return (session) => {
    const record = of(session);
    if (record === undefined) return 0;
    return record.status === 'forgetting' ? Number.MAX_SAFE_INTEGER : record.sequence;
  };
}

/** Returns the sequence above which a session's next log starts; 0 if it was never forgotten. */
export function firstSequenceAbove({ of }: ForgottenSessions): (session: Token) => number {
  return (session) => of(session)?.sequence ?? 0;
}

/** Returns the session's generation. Throws ThroughlineError `session_forgotten` while it is being forgotten. */
export function generationOf({ of }: Pick<ForgottenSessions, 'of'>, session: Token): string {
  const record = of(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
}
