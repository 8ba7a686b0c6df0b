/** How long to wait between attempts, in milliseconds: twice as long after each failure, up to the longest. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The wait after a number of failures, 1 for the first. It varies by half, so that attempts that failed together do not
 * come back together.
 *
 * @param random 0 to 1
 */
export function backoffMs({ firstMs, longestMs }: BackoffLimits, failures: number, random: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return Math.round(full * (0.5 + random / 2));
}

const MAX_DOUBLINGS = 30;
