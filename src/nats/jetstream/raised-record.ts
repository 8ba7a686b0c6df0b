import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import { isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { LIFECYCLE_PREFIX, LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { readLast } from './direct-get.js';

/** Key of the record in the bucket `session_lifecycle` with the raised dispatch number. */
export const RAISED_KEY = 'raised';
const raised = z.object({ v: z.literal(1), dispatches: z.int().positive() });

export function raisedIn(data: Uint8Array): number {
  return raised.safeParse(jsonOf(data)).data?.dispatches ?? 0;
}

/** Returns how far the numbers were raised for imported sessions; 0 if never, or if the user may not read it. */
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
