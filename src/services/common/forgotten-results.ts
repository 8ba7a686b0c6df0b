import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';

/** The records of forgotten sessions, and of those that are being imported. */
export type Forgetting = Pick<SessionLifecycle, 'archived' | 'forgotten' | 'refreshed'>;

/** How long a result of a session that is being forgotten is put back for, in milliseconds. */
export const HELD_BACK_MS = 1000;

/**
 * Whether a result may become an event: not one that was stored before its session was forgotten, and none yet while that
 * goes on.
 */
export function standingOf(
  lifecycle: Forgetting | undefined,
  session: Token,
  dispatch: number,
): 'counts' | 'forgotten' | 'later' {
  // Nothing may come between the events of a file.
  if (lifecycle?.archived(session)?.importing !== undefined) return 'later';
  const record = lifecycle?.forgotten(session);
  if (record === undefined) return 'counts';
  if (dispatch <= record.dispatches) return 'forgotten';
  return record.status === 'forgetting' ? 'later' : 'counts';
}

/**
 * Names the life that a session leads: another one after it was forgotten, so that no state of the one before is taken for
 * its own.
 *
 * @throws ThroughlineError `session_forgotten` while it is being forgotten, `session_importing` while it is being imported
 */
export function lifeBy(lifecycle: Forgetting): (session: Token) => string {
  return (session) => {
    requireWhole(session, lifecycle.archived(session));
    const record = lifecycle.forgotten(session);
    if (record?.status !== 'forgetting') return record?.at ?? '';
    throw beingForgotten(session);
  };
}

/**
 * For what is written of a session by way of something else: the function that it gives is called right before that, and throws
 * where the session was forgotten in between, or is being.
 *
 * @throws ThroughlineError `session_forgotten`
 */
export async function sameLife(
  lifecycle: Forgetting | undefined,
  session: Token,
): Promise<() => Promise<void>> {
  if (lifecycle === undefined) return async () => {};
  await lifecycle.refreshed();
  const lifeOf = lifeBy(lifecycle);
  const life = lifeOf(session);
  return async () => {
    await lifecycle.refreshed();
    if (lifeOf(session) !== life) throw beingForgotten(session);
  };
}

/** Throws `session_importing` for a session that is still being imported. */
export function requireWhole(session: Token, record: Archived | undefined): void {
  if (record?.importing !== undefined) throw importing(session);
}

export function importing(session: Token): ThroughlineError {
  const message = `session ${session} is being imported. Where that was cut short, run "throughline session import" again with the same file, or "throughline session rm ${session}"`;
  return new ThroughlineError('session_importing', message, { details: { session } });
}
