import type { Archived, Forgotten } from '../../src/contracts/lifecycle-record.js';
import type { Token } from '../../src/contracts/names.js';
import type { SessionLifecycle } from '../../src/engine/ports/session-lifecycle.js';

type Records = Pick<SessionLifecycle, 'change'>;

/** Records that a session is archived, or with `undefined` that it is not. */
export function recordArchived(lifecycle: Records, session: Token, archived: Archived | undefined) {
  return lifecycle.change(session, ({ forgotten }) => ({
    ...(archived && { archived }),
    ...(forgotten && { forgotten }),
  }));
}

/** Records that a session is being forgotten, or was. */
export function recordForgotten(
  lifecycle: Records,
  session: Token,
  { status = 'forgetting', dispatches = 0, sequence = 0, at }: Partial<Forgotten> & Pick<Forgotten, 'at'>,
) {
  return lifecycle.change(session, () => ({ forgotten: { status, at, dispatches, sequence } }));
}
