import { gunzipSync, gzipSync } from 'node:zlib';
import type { LearningEventOf } from '../contracts/learning-events.js';
import { decodeLearnings, encodeLearnings } from './learnings-snapshot.js';
import type { LearningState } from './learnings-state.js';

/**
 * A checkpoint carries the whole state of a project, and stands for all events before it: they may be removed, and the log
 * remains the truth.
 */
type Checkpoint = LearningEventOf<'checkpoint'>;

/** Larger than any state: what unpacks to more is none. */
const MAX_UNPACKED = 256 * 1024 * 1024;

/** What a checkpoint of this state says. */
export function learningsCheckpoint(
  state: LearningState,
  reason: Checkpoint['data']['reason'],
): Checkpoint['data'] {
  return { state: gzipSync(encodeLearnings(state, state.lastEventAt)).toString('base64'), reason };
}

/** Puts what a checkpoint carries in the place of a state. One that is damaged changes nothing. */
export function restoreLearnings(state: LearningState, { data }: Checkpoint): void {
  const carried = carriedBy(state.project, data.state);
  if (carried === undefined) return;
  for (const part of ['entries', 'active', 'observations'] as const)
    replace<unknown>(state[part], carried[part]);
}

function replace<Value>(before: Map<string, Value>, next: ReadonlyMap<string, Value>): void {
  before.clear();
  for (const [key, value] of next) before.set(key, value);
}

function carriedBy(project: string, packed: string): LearningState | undefined {
  try {
    const text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString();
    const decoded = decodeLearnings(project, text);
    return decoded.ok ? decoded.state : undefined;
  } catch {
    return undefined;
  }
}
