import { setTimeout as sleep } from 'node:timers/promises';
import { ThroughlineError } from '../contracts/errors.js';
import { backoffMs } from '../shared/deadlines.js';

/** Limits of retrying. */
export interface Persistence {
  /** In milliseconds, from the first attempt. */
  readonly timeoutMs: number;
  /** Aborting stops further attempts. */
  readonly signal?: AbortSignal;
  /** Called once, after the first failure that is retried. */
  readonly onWaiting?: ((failure: ThroughlineError) => void) | undefined;
}

const PAUSES = { firstMs: 250, longestMs: 5000 };
/**
 * Timeout of the first attempt: a request sent while the connection was down is lost. Further timeouts grow, so that a
 * slow server is not asked in vain again and again.
 */
const FIRST_PATIENCE_MS = 2000;

/**
 * Retries with exponential backoff until an attempt succeeds. Retries only failures that may
 * pass.
 *
 * @param attempt must fail by itself after this many milliseconds
 * @throws the failure of the last attempt
 */
export async function keepTrying<T>(
  attempt: (patienceMs: number) => Promise<T>,
  { timeoutMs, signal, onWaiting }: Persistence,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let patienceMs = FIRST_PATIENCE_MS;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(Math.min(patienceMs, deadline - performance.now()));
    } catch (failure) {
      const leftMs = deadline - performance.now();
      if (!passes(failure) || leftMs < PAUSES.firstMs || signal?.aborted === true) throw failure;
      if (failures === 1) onWaiting?.(failure);
      const pauseMs = Math.min(backoffMs(PAUSES, failures, Math.random()), leftMs / 2);
      await sleep(pauseMs, undefined, { ...(signal !== undefined && { signal }) }).catch(() => {
        throw failure;
      });
    }
    patienceMs *= 2;
  }
}

/** Rejects once `signal` is aborted, without starting the work if it is already; work in progress continues. */
export async function unlessStopped<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return work();
  const stopped = () =>
    new ThroughlineError('unavailable', 'stopped by the caller', { cause: signal.reason });
  if (signal.aborted) throw stopped();
  let stop = () => {};
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(stopped());
  });
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([work(), ended]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** True for a failure that another request may not meet. */
export function passes(failure: unknown): failure is ThroughlineError {
  if (!(failure instanceof ThroughlineError)) return false;
  const { code, details } = failure;
  return code === 'rate_limited' || (code === 'unavailable' && details?.closed !== true);
}
