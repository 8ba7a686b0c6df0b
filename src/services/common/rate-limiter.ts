import { ThroughlineError } from '../../contracts/errors.js';
import { type BucketLimits, TokenBuckets } from './token-buckets.js';

/**
 * A session may send a number of requests a second on average, and twice as many at once after a pause. Its excess
 * costs other sessions nothing.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #buckets: TokenBuckets;

  constructor(limits: BucketLimits) {
    this.#perSecond = limits.perSecond;
    this.#buckets = new TokenBuckets(limits);
  }

  /**
   * Takes one request of a session, or of a caller, into account.
   *
   * @throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details
   */
  admit(session: string): void {
    const retryAfterMs = this.#buckets.waitFor(session, 1);
    if (retryAfterMs === 0) {
      this.#buckets.take(session, 1);
      return;
    }
    const perSecond = this.#perSecond;
    throw new ThroughlineError(
      'rate_limited',
      `the session sends more than ${perSecond} requests a second: try again in ${retryAfterMs} ms, or raise requestsPerSecond of THROUGHLINE_TUNING`,
      { details: { retryAfterMs, perSecond } },
    );
  }
}
