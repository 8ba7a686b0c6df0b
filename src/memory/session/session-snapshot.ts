import { z } from 'zod';
import type { SessionState } from './session-state.js';
import { stateFromJson, stateJson, stateToJson } from './session-state-json.js';
import { sessionView } from './session-view.js';

/**
 * The format of a snapshot:
 * `{"after_sequence":N,"created_at":…,"session":…,"view":{…},"v":1,"last_event"?:M,"last_command"?:L,"checkpoint"?:C,"state":{…}}`
 * on one line, in that order; `last_event` is present if it is below N, `last_command` if it is below that. `view` is for
 * people, and ignored when the snapshot is read.
 */
export const SNAPSHOT_VERSION = 1;

export const sessionSnapshot = z.object({
  after_sequence: z.int().nonnegative(),
  created_at: z.string(),
  session: z.string(),
  v: z.literal(SNAPSHOT_VERSION),
  last_event: z.int().nonnegative().exactOptional(),
  last_command: z.int().nonnegative().exactOptional(),
  checkpoint: z.int().positive().exactOptional(),
  state: stateJson,
});

export function encodeSnapshot(state: SessionState, createdAt: string): string {
  return JSON.stringify({
    after_sequence: state.sequence,
    created_at: createdAt,
    session: state.session,
    view: sessionView(state),
    v: SNAPSHOT_VERSION,
    ...(state.lastEvent < state.sequence && { last_event: state.lastEvent }),
    ...(state.lastCommand < state.lastEvent && { last_command: state.lastCommand }),
    ...(state.checkpoint > 0 && { checkpoint: state.checkpoint }),
    state: stateToJson(state),
  });
}

type DecodedSnapshot =
  | { readonly ok: true; readonly state: SessionState; readonly createdAt: string }
  | { readonly ok: false; readonly reason: string };

/** Returns the reason for a damaged snapshot or another version. */
export function decodeSnapshot(session: string, text: string): DecodedSnapshot {
  try {
    const parsed = sessionSnapshot.safeParse(JSON.parse(text));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return { ok: false, reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}` };
    }
    const { after_sequence: sequence, created_at: createdAt, state, session: owner } = parsed.data;
    if (owner !== session) return { ok: false, reason: `it belongs to session ${owner}` };
    const { last_event: lastEvent = sequence, last_command: lastCommand = lastEvent } = parsed.data;
    const { checkpoint = 0 } = parsed.data;
    const at = { sequence, lastEvent, lastCommand, checkpoint };
    return { ok: true, state: stateFromJson(session, at, state), createdAt };
  } catch {
    return { ok: false, reason: 'not JSON' };
  }
}
