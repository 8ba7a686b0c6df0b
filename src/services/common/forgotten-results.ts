import { beingForgotten, renamedSession, ThroughlineError } from '../../contracts/errors.js';
import type { Archived, Forgotten } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';

/** What is known of forgotten and renamed sessions, and of those that are being imported. */
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
  const archived = lifecycle?.archived(session);
  // Nothing may come between the events of a file, or behind those that are copied to a new name.
  if (archived?.importing !== undefined || archived?.renaming !== undefined) return 'later';
  const record = lifecycle?.forgotten(session);
  if (record === undefined) return 'counts';
  if (dispatch <= record.dispatches) return 'forgotten';
  return record.status === 'forgetting' ? 'later' : 'counts';
}

/**
 * Names the life that a session leads: another one after it was forgotten, so that no state of the one before is taken for
 * its own.
 *
 * @throws ThroughlineError `session_forgotten` while it is being forgotten, `session_importing` while it is being imported,
 * `session_renamed`
 */
export function lifeBy(lifecycle: Forgetting): (session: Token) => string {
  return (session) => {
    requireOwnName(session, lifecycle.archived(session));
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

/**
 * The time to record of an archived session. Its event may be older than a session of the name that was forgotten, as one of a
 * file is: recorded by that time it would pass for what is left of that session.
 *
 * @param before what was recorded of the name before its events were read
 */
export function archivedSince(before: Forgotten | undefined, at: string): string {
  if (before === undefined || at > before.at) return at;
  return new Date(Date.parse(before.at) + 1).toISOString();
}

/**
 * Refuses a name that was renamed away, or is still being filled.
 *
 * @throws ThroughlineError `session_renamed`, `session_importing`
 */
export function requireOwnName(session: Token, record: Archived | undefined): void {
  refuseRenamed(session, record);
  if (record?.importing !== undefined) throw importing(session, record.importing.from);
}

/** Throws `session_renamed` for a name that a session had before, or has while it gets another one. */
export function refuseRenamed(session: Token, record: Archived | undefined): void {
  if (record?.renamed_to !== undefined)
    throw renamedSession(session, record.renamed_to, record.renaming === undefined);
}

/**
 * Whether a name was taken for a rename that is not recorded any more, since the session was forgotten at the same moment:
 * what is there of it may go.
 */
export function isLeftOver(lifecycle: Pick<SessionLifecycle, 'archived'>, session: Token): boolean {
  const from = lifecycle.archived(session)?.importing?.from;
  if (from === undefined) return false;
  const renamed = lifecycle.archived(from);
  return renamed?.renaming === undefined || renamed.renamed_to !== session;
}

/** What is said of a session whose events are not all there yet; `from` is the one that is being renamed to it. */
export function importing(session: Token, from?: Token): ThroughlineError {
  const message =
    from === undefined
      ? `session ${session} is being imported. Where that was cut short, run "throughline session import" again with the same file, or "throughline session forget ${session}"`
      : `session ${from} is being renamed to ${session}: try again in a moment. Where it was cut short, run "throughline session rename ${from} ${session}" again, or, if ${from} is gone, "throughline session forget ${session}"`;
  return new ThroughlineError('session_importing', message, { details: { session } });
}
