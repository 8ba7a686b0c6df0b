import type { DispatchFault } from '../../contracts/dispatch-body.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Archived } from '../../contracts/lifecycle-record.js';
import type { Token } from '../../contracts/names.js';
import { archivedText } from '../../memory/session/charter.js';

/** Rejects a result of an archived session. */
export function archivedResult(session: Token, archived: Archived): DispatchFault {
  return {
    code: 'session_archived',
    reason: archivedText(session, archived),
    fix: `reopen it with "throughline session reopen ${session}" and retry this result, or publish to another session`,
  };
}

/** Refuses any other addition to an archived session. */
export function archivedFault(session: Token, archived: Archived): ThroughlineError {
  const fix = `reopen it first with "throughline session reopen ${session}"`;
  return new ThroughlineError('session_archived', `${archivedText(session, archived)}: ${fix}`);
}
