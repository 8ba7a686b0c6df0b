import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';

/** The records of forgotten sessions and of imports. */
export type Forgetting = Pick<SessionLifecycle, 'archived' | 'forgotten' | 'refreshed'>;

/** Redelivery delay for a result of a session that is being forgotten or imported, in milliseconds. */
export const HELD_BACK_MS = 1000;

/** Decides if a result may become an event: never if it was stored before its session was forgotten, and later during that. */
export function admission(
  lifecycle: Forgetting | undefined,
  session: Token,
  dispatch: number,
): 'counts' | 'forgotten' | 'later' {
  // Results must not interleave with the events of an imported file.
  if (lifecycle?.archived(session)?.importing !== undefined) return 'later';
  const record = lifecycle?.forgotten(session);
  if (record === undefined) return 'counts';
  if (dispatch <= record.dispatches) return 'forgotten';
  return record.status === 'forgetting' ? 'later' : 'counts';
}

/**
 * Returns the generation of a session: it changes when the session is forgotten, so that a state folded before is not used.
 *
 * @throws ThroughlineError `session_forgotten` while it is being forgotten, `session_importing` while it is being imported
 */
export function generationOf(lifecycle: Forgetting, session: Token): string {
  requireWhole(session, lifecycle.archived(session));
  const record = lifecycle.forgotten(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
}

/**
 * Returns a guard for writes that derive from a session: call it right before the write. It throws if the session was
 * forgotten since.
 *
 * @throws ThroughlineError `session_forgotten`
 */
export async function generationGuard(
  lifecycle: Forgetting | undefined,
  session: Token,
): Promise<() => Promise<void>> {
  await lifecycle?.refreshed();
  const generation = lifecycle && generationOf(lifecycle, session);
  return async () => {
    await lifecycle?.refreshed();
    if ((lifecycle && generationOf(lifecycle, session)) !== generation) throw beingForgotten(session);
  };
}

/** Throws `session_importing` during an import. */
export function requireWhole(session: Token, record: Archived | undefined): void {
  if (record?.importing !== undefined) throw importing(session);
}

export function importing(session: Token): ThroughlineError {
  const message = `session ${session} is being imported. Where that was cut short, run "throughline session import" again with the same file, or "throughline session rm ${session}"`;
  return new ThroughlineError('session_importing', message, { details: { session } });
}
