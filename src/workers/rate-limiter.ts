import { ThroughlineError } from '../errors.js';

/**
 * A token bucket for each session: a session may ask so many times a second over time, and twice as many at once
 * after a pause. What one session asks too often costs the others nothing.
 */
export interface RateLimits {
  /** Requests a second; 0 for no limit. */
  readonly perSecond: number;
  /** Milliseconds from any fixed moment on. */
  readonly now: () => number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const BURST_SECONDS = 2;
/** A session that is forgotten starts anew with a full bucket. */
const MAX_BUCKETS = 10_000;

export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /**
   * Takes one request of a session into account.
   *
   * @throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details
   */
  admit(session: string): void {
    const { perSecond } = this.#limits;
    if (perSecond === 0) return;
    const bucket = this.#filled(session);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return;
    }
    const retryAfterMs = Math.ceil(((1 - bucket.tokens) * 1000) / perSecond);
    throw new ThroughlineError(
      'rate_limited',
      `the session asks more than ${perSecond} times a second: try again in ${retryAfterMs} ms, or raise THROUGHLINE_REQUESTS_PER_SECOND`,
      { details: { retryAfterMs, perSecond } },
    );
  }

  #filled(session: string): Bucket {
    const { perSecond, now } = this.#limits;
    const at = now();
    const full = perSecond * BURST_SECONDS;
    const known = this.#buckets.get(session);
    // Deleted and set again, a key moves to the end of the map: the first one is the least recently used.
    this.#buckets.delete(session);
    const gained = known === undefined ? full : ((at - known.at) * perSecond) / 1000;
    const bucket = { tokens: Math.min(full, (known?.tokens ?? 0) + Math.max(0, gained)), at };
    this.#buckets.set(session, bucket);
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > MAX_BUCKETS && !oldest.done) this.#buckets.delete(oldest.value);
    return bucket;
  }
}
