import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { LIFECYCLE_PREFIX, LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { readLast } from './direct-get.js';

/** The key of the record in the bucket `session_lifecycle` that says how far the numbers of dispatches were moved up. */
export const RAISED_KEY = 'raised';
const raised = z.object({ v: z.literal(1), dispatches: z.int().positive() });

/** The number that a record holds; 0 for anything else. */
export function raisedIn(data: Uint8Array): number {
  return raised.safeParse(jsonOf(data)).data?.dispatches ?? 0;
}

/** How far the numbers were moved up for sessions of other servers; 0 where they never were, or it may not be known. */
export async function raisedTo(connection: NatsConnection, timeoutMs: number): Promise<number> {
  try {
    const last = await readLast(connection, LIFECYCLE_STREAM, LIFECYCLE_PREFIX + RAISED_KEY, timeoutMs);
    return last === undefined ? 0 : raisedIn(last.data);
  } catch (error) {
    // There is no bucket yet.
    if (isNoResponders(error)) return 0;
    const fault = toThroughlineError(error, 'reading lifecycle records');
    if (fault.code === 'permission_denied') return 0;
    throw fault;
  }
}
