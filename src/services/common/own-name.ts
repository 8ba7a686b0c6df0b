import { renamedSession, ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import type { SessionLifecycle } from '../../ports/session-lifecycle.js';

/** Whose a name is: a pointer to another session, and one that is being filled, stands for no session. */

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
      : `session ${from} is being renamed to ${session}: try again in a moment. Where a service ended meanwhile, another one goes on within ten seconds; if ${from} is gone, run "throughline session forget ${session}"`;
  return new ThroughlineError('session_importing', message, { details: { session } });
}
