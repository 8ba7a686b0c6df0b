import type { JetStreamManager } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, HEADERS, VOID_DISPATCHES } from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from './acked-publisher.js';

const AT_ONCE = 500;

/** Raises the dispatch numbers for an import for at most `mostMs`, and returns the number reached. */
export async function raiseDispatches(
  { jsm, publisher }: { readonly jsm: JetStreamManager; readonly publisher: AckedPublisher },
  to: number,
  mostMs: number,
): Promise<number> {
  try {
    const began = performance.now();
    let { last_seq: last } = (await jsm.streams.info(DISPATCH_STREAM)).state;
    while (last < to && performance.now() - began < mostMs) {
      const count = Math.min(AT_ONCE, to - last);
      const publish = () =>
        publisher.publish(VOID_DISPATCHES, new Uint8Array(), { headers: { [HEADERS.void]: '1' } });
      const stored = await Promise.all(Array.from({ length: count }, publish));
      last = Math.max(...stored.map((each) => (each.outcome === 'stored' ? each.sequence : 0)));
      if (last === 0) throw new ThroughlineError('unavailable', `stream ${DISPATCH_STREAM} is missing`);
      await jsm.streams.purge(DISPATCH_STREAM, { filter: VOID_DISPATCHES });
    }
    return last;
  } catch (error) {
    throw toThroughlineError(error, 'moving numbers of dispatches up');
  }
}
