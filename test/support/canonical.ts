import type { StoredEvent } from '../../src/contracts/session-events.js';
import { CanonicalState, CopiedSequences, rankedNext } from '../../src/memory/session/copied-events.js';
import type { SessionLimits } from '../../src/memory/session/session-state.js';

/** Renumbers events to 1, 2, 3 …, so that two logs with the same events compare equal. */
export function renumbered(events: Iterable<StoredEvent>): StoredEvent[] {
  const ranks = new CopiedSequences();
  return Array.from(events, (stored) => rankedNext(stored, ranks));
}

export function canonicalState(events: Iterable<StoredEvent>, limits?: SessionLimits): string {
  const state = new CanonicalState(limits);
  state.add(events);
  return state.text();
}
