import { LRUCache } from 'lru-cache';

/**
 * A bucket for each key: it fills at a constant rate, and holds what two seconds give. The keys are bounded: the one
 * that was not used for longest is forgotten, and begins again with a full bucket.
 */
export interface BucketLimits {
  /** How much each bucket gains in a second; 0 for no limit. */
  readonly perSecond: number;
  /** Milliseconds from any fixed moment on. */
  readonly now: () => number;
}

interface Bucket {
  level: number;
  at: number;
}

const BURST_SECONDS = 2;
const MAX_BUCKETS = 10_000;

export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });

  constructor(limits: BucketLimits) {
    this.#limits = limits;
  }

  /**
   * Milliseconds until the key may take this amount, 0 for now. More than a bucket holds may be taken from a full one,
   * which then owes the rest.
   */
  waitFor(key: string, cost: number): number {
    const { perSecond } = this.#limits;
    if (perSecond === 0) return 0;
    const missing = Math.min(cost, perSecond * BURST_SECONDS) - this.#filled(key).level;
    return missing > 0 ? Math.ceil((missing * 1000) / perSecond) : 0;
  }

  /** Takes this amount from the key's bucket, whatever it holds. */
  take(key: string, cost: number): void {
    if (this.#limits.perSecond !== 0) this.#filled(key).level -= cost;
  }

  #filled(key: string): Bucket {
    const { perSecond, now } = this.#limits;
    const at = now();
    const full = perSecond * BURST_SECONDS;
    const known = this.#buckets.get(key);
    const gained = known === undefined ? full : ((at - known.at) * perSecond) / 1000;
    const bucket = { level: Math.min(full, (known?.level ?? 0) + Math.max(0, gained)), at };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
