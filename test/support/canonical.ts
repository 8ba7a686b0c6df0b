import type { StoredEvent } from '../../src/contracts/session-events.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { emptyState, type SessionLimits } from '../../src/memory/session/session-state.js';

/** The state that events fold to, without the name of their session: equal states have equal texts. */
export function canonicalState(events: readonly StoredEvent[], limits?: SessionLimits): string {
  return encodeSnapshot(events.reduce(evolve, emptyState('_', limits)), '');
}
