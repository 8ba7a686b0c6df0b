import { setTimeout as sleep } from 'node:timers/promises';
import type { BackoffLimits } from '../../shared/backoff.js';

const DEFAULT_LONGEST_MS = 5000;

/** Exponential backoff. */
export class Backoff {
  readonly #limits: BackoffLimits;
  #nextMs: number;

  /** @param longestMs default: 5 s */
  constructor(firstMs: number, longestMs = DEFAULT_LONGEST_MS) {
    this.#limits = { firstMs, longestMs };
    this.#nextMs = firstMs;
  }

  get nextMs(): number {
    return this.#nextMs;
  }

  /** Returns the next wait in milliseconds, and doubles the one after it. */
  take(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(this.#limits.longestMs, ms * 2);
    return ms;
  }

  async pause(signal: AbortSignal): Promise<void> {
    await pause(this.take(), signal);
  }

  /** Starts over with the first wait, after a success. */
  reset(): void {
    this.#nextMs = this.#limits.firstMs;
  }
}

/** Waits until the time is up or the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}
