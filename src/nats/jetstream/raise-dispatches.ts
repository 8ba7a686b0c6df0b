import { DISPATCH_STREAM, VOID_DISPATCHES } from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { KvBucket } from '../stores/kv-bucket.js';
import { RAISED_KEY, raisedIn } from './raised-record.js';
import { type RepairPorts, raiseWithin } from './repair-streams.js';

/**
 * Sessions of another server name dispatches of its stream. Before they are taken in, the numbers of the stream here are
 * moved up beyond them, and it is recorded how far: up to there none is given ever again, so that events may name what the
 * stream has never held.
 */

/** Moves the numbers up for so many milliseconds at most. Gives how far they are; once that is `to`, it is recorded. */
export async function raiseDispatches(
  ports: RepairPorts & { readonly bucket: KvBucket },
  to: number,
  mostMs: number,
): Promise<number> {
  try {
    const place = { stream: DISPATCH_STREAM, subject: VOID_DISPATCHES, to };
    const last = await raiseWithin(ports, place, mostMs);
    // Without time it is a question alone.
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
