import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { storedJson } from '../../contracts/checked.js';
import { ThroughlineError } from '../../contracts/errors.js';
import type { EventOf } from '../../contracts/session-events.js';
import {
  type SessionStateJson,
  SNAPSHOT_VERSION,
  stateFromJson,
  stateJson,
  stateToJson,
} from './session-snapshot.js';
import type { SessionState } from './session-state.js';

/**
 * Carries a session's whole state and replaces all events before it, which may be removed. Their sequences are lost:
 * everything before counts as at the checkpoint. One that erases a statement leaves the other events.
 */
export type Checkpoint = EventOf<'session.checkpoint'>;

/** Larger than any state that fits one message compressed. */
const MAX_UNPACKED = 16 * 1024 * 1024;

const carried = z.object({ v: z.literal(SNAPSHOT_VERSION), state: stateJson });

/** @throws ThroughlineError `too_large` for a state that could not be read back */
export function checkpointOf(state: SessionState, reason: Checkpoint['data']['reason'], events?: number) {
  const newest = state.dispatches.recent().at(-1);
  const { window, ...json } = stateToJson(state);
  const counted = { ...window.counted, removed: window.counted.floor };
  const text = JSON.stringify({ v: SNAPSHOT_VERSION, state: { ...json, window: { ...window, counted } } });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_UNPACKED)
    throw new ThroughlineError(
      'too_large',
      `the state of session ${state.session} has ${bytes} bytes, and a checkpoint holds ${MAX_UNPACKED}: delete notes, messages or tasks that are not needed any longer`,
      { details: { session: state.session, bytes, limit: MAX_UNPACKED } },
    );
  return {
    covers: reason === 'imported' ? 0 : state.sequence,
    state: gzipSync(text).toString('base64'),
    reason,
    ...(events !== undefined && { events }),
    ...(newest !== undefined && { newest_dispatch: { sequence: newest.sequence, at: newest.at } }),
  };
}

/** Reads a checkpoint's state, moving all events to `sequence`. Throws `schema_invalid` if damaged or of another version. */
export function carriedBy({ data }: Checkpoint, sequence: number): SessionStateJson {
  let text: string;
  try {
    text = gunzipSync(Buffer.from(data.state, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString();
  } catch (cause) {
    throw unreadable(`it is not gzip and Base64 of at most ${MAX_UNPACKED} bytes`, cause);
  }
  const stored = storedJson(carried, text);
  if (!stored.ok) throw unreadable(stored.reason);
  return data.reason === 'erased' ? stored.value.state : movedTo(stored.value.state, sequence);
}

/**
 * Replaces the state with the checkpoint's. Ignores an unreadable one if the events before it were folded, since the state is
 * then complete already. Throws ThroughlineError `schema_invalid` if the log begins with one.
 */
export function restoreCheckpoint(
  state: SessionState,
  event: Checkpoint,
  sequence: number,
  isFirst: boolean,
): void {
  try {
    const json = carriedBy(event, sequence);
    const at = { sequence, lastEvent: sequence, lastCommand: sequence, checkpoint: sequence };
    // This reader's limits apply, as for all other events.
    const restored = stateFromJson(state.session, at, { ...json, limits: state.limits });
    // The event's own time may be the later one.
    if (state.lastEventAt > restored.lastEventAt) restored.lastEventAt = state.lastEventAt;
    Object.assign(state, restored);
  } catch (error) {
    // The packed numbers of past results are damaged.
    const fault = error instanceof RangeError ? unreadable(`state.past: ${error.message}`, error) : error;
    if (isFirst || !(fault instanceof ThroughlineError)) throw fault;
  }
}

function movedTo(state: SessionStateJson, event: number): SessionStateJson {
  const { counted, recent } = state.window;
  return {
    ...state,
    facts: state.facts.map((fact) => ({ ...fact, eventSequence: event })),
    rejections: state.rejections.map((rejection) => ({ ...rejection, event })),
    window: { recent: recent.map((entry) => ({ ...entry, event })), counted },
  };
}

function unreadable(why: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError(
    'schema_invalid',
    `a checkpoint of the session cannot be read: ${why}. Use the version of Throughline that wrote it; if the log is damaged, restore a backup`,
    { cause },
  );
}
