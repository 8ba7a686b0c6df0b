import { decodeSnapshot, encodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import type { SessionState } from '../../src/memory/session/session-state.js';

export const SNAPSHOT_AT = '2026-02-01T00:00:00.000Z';

/** The snapshot of a state, always as of the same time: two states are the same where these are. */
export function bytes(state: SessionState): string {
  return encodeSnapshot(state, SNAPSHOT_AT);
}

export function restored(text: string, session = 'demo'): SessionState {
  const decoded = decodeSnapshot(session, text);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.state;
}
