import { codeOf, messageOf } from '../../contracts/errors.js';
import { pause } from '../../runtime/pauses.js';

/** An election takes some ten seconds, on a busy machine twice that. */
const PATIENCE_MS = 30_000;
/** Between two looks whether the servers answer again. */
const AGAIN_MS = 500;

export interface Patience {
  /** How much is done: while that grows, the waiting begins again with each fault. */
  readonly done: () => number;
  /** How long to wait for servers that do not answer, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number | undefined;
  /** Told with the first fault of each wait. */
  readonly onWaiting?: ((fault: string) => void) | undefined;
}

/**
 * Runs work that goes on where it was cut short, again and again while servers do not answer: those of a cluster first have to
 * agree on another leader.
 *
 * @throws ThroughlineError what the work throws; `unavailable` once nothing more was done for `patienceMs`
 */
export async function throughElections<T>(
  work: () => Promise<T>,
  { done, patienceMs = PATIENCE_MS, onWaiting }: Patience,
): Promise<T> {
  let wait: { readonly since: number; readonly done: number } | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'unavailable' || patienceMs === 0) throw error;
      const now = performance.now();
      if (wait === undefined || done() > wait.done) {
        wait = { since: now, done: done() };
        onWaiting?.(messageOf(error));
      } else if (now - wait.since > patienceMs) throw error;
    }
    await pause(AGAIN_MS);
  }
}
