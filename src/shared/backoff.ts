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
