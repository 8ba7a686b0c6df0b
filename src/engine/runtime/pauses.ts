import { setTimeout as sleep } from 'node:timers/promises';
import type { BackoffLimits } from '../../shared/backoff.js';

const DEFAULT_LONGEST_MS = 5000;

/** Waits between attempts, each twice as long as the one before. */
export class Backoff {
  readonly #limits: BackoffLimits;
  #nextMs: number;

  /** @param longestMs default: 5 s */
  constructor(firstMs: number, longestMs = DEFAULT_LONGEST_MS) {
    this.#limits = { firstMs, longestMs };
    this.#nextMs = firstMs;
  }

  /** How long the next wait is, in milliseconds. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** The length of the next wait, in milliseconds; the one after it is twice as long. */
  take(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(this.#limits.longestMs, ms * 2);
    return ms;
  }

  /** Waits, but no longer than until `signal` is given. */
  async pause(signal: AbortSignal): Promise<void> {
    await pause(this.take(), signal);
  }

  /** The attempt succeeded: the next wait is the first again. */
  reset(): void {
    this.#nextMs = this.#limits.firstMs;
  }
}

/** Waits, but no longer than until a `signal` is given. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}
