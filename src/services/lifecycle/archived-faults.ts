import type { DispatchFault } from '../../contracts/dispatch-body.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import { archivedText } from '../../memory/session/charter.js';

/** What a session that is archived says to those who would add something to it. */

/** Why a result of the session cannot be used. */
export function archivedResult(session: Token, archived: Archived): DispatchFault {
  return {
    code: 'session_archived',
    reason: archivedText(session, archived),
    fix: `reopen it with "throughline session reopen ${session}" and retry this result, or publish to another session`,
  };
}

/** Why anything else cannot be added. */
export function archivedFault(session: Token, archived: Archived): ThroughlineError {
  const fix = `reopen it first with "throughline session reopen ${session}"`;
  return new ThroughlineError('session_archived', `${archivedText(session, archived)}: ${fix}`);
}
