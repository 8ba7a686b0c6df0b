import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import type { EventOf } from '../../contracts/session-events.js';
import type { CountedJson } from './counted-dispatches.js';
import { SNAPSHOT_VERSION, stateJson } from './session-snapshot.js';
import type { SessionState } from './session-state.js';
import { type SessionStateJson, stateFromJson, stateToJson } from './session-state-json.js';

/**
 * A checkpoint carries the whole state of a session, and stands for all events before it: they may be removed, and the
 * log remains the truth. With them go their sequences: whatever an event before it brought stands at the checkpoint's.
 */
export type Checkpoint = EventOf<'session.checkpoint'>;

/** Larger than any state that fits one message when it is packed: what unpacks to more is not read, or written. */
export const MAX_UNPACKED = 16 * 1024 * 1024;

const carried = z.object({ v: z.literal(SNAPSHOT_VERSION), state: stateJson });

/**
 * Returns what a checkpoint of this state says.
 *
 * @throws ThroughlineError `too_large` for a state that could not be read back
 */
export function checkpointOf(
  state: SessionState,
  reason: Checkpoint['data']['reason'],
  events?: number,
): Checkpoint['data'] {
  const newest = state.dispatches.recent().at(-1);
  const text = JSON.stringify({ v: SNAPSHOT_VERSION, state: stateToJson(state) });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_UNPACKED)
    throw new ThroughlineError(
      'too_large',
      `the state of session ${state.session} has ${bytes} bytes, and a checkpoint holds ${MAX_UNPACKED}: delete notes, messages or tasks that are not needed any longer`,
      { details: { session: state.session, bytes, limit: MAX_UNPACKED } },
    );
  return {
    state: gzipSync(text).toString('base64'),
    reason,
    ...(events !== undefined && { events }),
    ...(newest !== undefined && { newest_dispatch: { sequence: newest.sequence, at: newest.at } }),
  };
}

/**
 * The state that a checkpoint carries, with all events of it at a sequence.
 *
 * @throws ThroughlineError `schema_invalid` where it is damaged, or of another version
 */
export function carriedBy(
  { data }: Checkpoint,
  sequence: number,
): Omit<SessionStateJson, 'counts' | 'ledgers'> {
  let text: string;
  try {
    text = gunzipSync(Buffer.from(data.state, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString();
  } catch (cause) {
    throw unreadable('it is not gzip and Base64', cause);
  }
  return movedTo(carriedIn(text), sequence);
}

/**
 * Returns the state in the text that a checkpoint carries. Throws as `carriedBy`.
 *
 * @param look sees the value before it is read as a whole
 */
export function carriedIn(
  text: string,
  look?: (schema: typeof carried, json: unknown) => void,
): CarriedState {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw unreadable('it is not JSON', cause);
  }
  look?.(carried, json);
  const parsed = carried.safeParse(json);
  if (parsed.success) return parsed.data.state;
  throw unreadable(issueIn(parsed.error));
}

/** Returns the first thing that is wrong, with its place below `path`. */
export function issueIn({ issues: [issue] }: z.ZodError, path: readonly PropertyKey[] = []): string {
  return `${[...path, ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'invalid'}`;
}

/**
 * Puts what a checkpoint carries in the place of a state. One that cannot be read changes nothing where the events before
 * it were folded: the state holds what it stands for.
 *
 * @throws ThroughlineError `schema_invalid` where the log begins with one that cannot be read
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
    // Folded on under the limits of this reader, as everything else.
    const restored = stateFromJson(state.session, at, { ...json, limits: state.limits });
    // The time of this event is the state's by now, where it is the later one.
    if (state.lastEventAt > restored.lastEventAt) restored.lastEventAt = state.lastEventAt;
    Object.assign(state, restored);
  } catch (error) {
    if (isFirst || !(error instanceof ThroughlineError)) throw error;
  }
}

export type CarriedState = z.output<typeof stateJson>;

/** The same with all sequences of events at one; those of dispatches stay. */
function movedTo(state: CarriedState, event: number): CarriedState {
  const { counted, recent } = state.window;
  return {
    ...state,
    facts: state.facts.map((fact) => ({ ...fact, eventSequence: event })),
    rejections: state.rejections.map((rejection) => ({ ...rejection, event })),
    window: { recent: recent.map((entry) => ({ ...entry, event })), counted: countedAt(counted, event) },
  };
}

function countedAt({ late, late_floor: floor, ...counted }: CountedJson, event: number) {
  return {
    ...counted,
    late: late.map(([dispatch]): [number, number] => [dispatch, event]),
    late_floor: floor === 0 ? 0 : event,
  };
}

export function unreadable(why: string, cause?: unknown): ThroughlineError {
  return new ThroughlineError(
    'schema_invalid',
    `a checkpoint of the session cannot be read: ${why}. Use the version of Throughline that wrote it; if the log is damaged, restore a backup`,
    { cause },
  );
}
