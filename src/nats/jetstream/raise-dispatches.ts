import { DISPATCH_STREAM, VOID_DISPATCHES } from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { KvBucket } from '../stores/kv-bucket.js';
import { RAISED_KEY, raisedIn } from './raised-record.js';
import { type RepairPorts, raiseWithin } from './repair-streams.js';

/**
 * Raises the dispatch numbers for at most `mostMs`, and returns the number reached; at `to` it is recorded. Imported sessions
 * refer to dispatches of another server, so numbers up to the record must never be given here.
 */
export async function raiseDispatches(
  ports: RepairPorts & { readonly bucket: KvBucket },
  to: number,
  mostMs: number,
): Promise<number> {
  try {
    const place = { stream: DISPATCH_STREAM, subject: VOID_DISPATCHES, to };
    const last = await raiseWithin(ports, place, mostMs);
    // Without time it is only a question.
    if (last < to || mostMs === 0) return last;
    await ports.bucket.write(RAISED_KEY, (before) => ({
      v: 1,
      dispatches: Math.max(before === undefined ? 0 : raisedIn(before.data), to),
    }));
    return last;
  } catch (error) {
    throw toThroughlineError(error, 'moving numbers of dispatches up');
  }
}
