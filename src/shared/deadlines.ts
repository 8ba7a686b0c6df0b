import { setMaxListeners } from 'node:events';

/** Delays between attempts, in milliseconds: doubled after each failure, up to the longest. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns the delay after a number of failures, from 1. Jitter of up to a half prevents a thundering herd.
 *
 * @param random 0 to 1
 */
export function backoffMs({ firstMs, longestMs }: BackoffLimits, failures: number, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return Math.round(full * (0.5 + random / 2));
}

const MAX_DOUBLINGS = 30;

/** Returned for work that missed its deadline. */
export const LATE = Symbol('late');

/** Returns the result of the work, or `LATE` after this many milliseconds; the work itself continues. */
export async function withinDeadline<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Unlinks the sources and clears the timer. The signal may still fire, without an effect. */
  release(): void;
}

/**
 * Makes a signal that fires with the reason of the first source, or with a `TimeoutError`.
 *
 * Its sources and timer reference it. In Node 20 the result of `AbortSignal.any` may be garbage-collected, and a
 * request that waits for it then waits forever.
 *
 * @param timeoutMs milliseconds; without it there is no timeout
 */
export function linkedSignal(
  sources: readonly (AbortSignal | undefined)[],
  timeoutMs?: number,
): LinkedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const releases: (() => void)[] = [];
  for (const source of sources) {
    if (source === undefined) continue;
    if (source.aborted) {
      controller.abort(source.reason);
      continue;
    }
    const fire = () => controller.abort(source.reason);
    // One listener per concurrent request, whose number the caller limits.
    setMaxListeners(0, source);
    source.addEventListener('abort', fire, { once: true });
    releases.push(() => source.removeEventListener('abort', fire));
  }
  if (timeoutMs !== undefined && !signal.aborted) {
    const timer = setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      timeoutMs,
    );
    releases.push(() => clearTimeout(timer));
  }
  return {
    signal,
    release() {
      for (const release of releases) release();
    },
  };
}
