import { setTimeout as sleep } from 'node:timers/promises';

/** Pauses between attempts, each twice as long as the one before, up to five seconds. */
export class Backoff {
  static readonly #LONGEST_MS = 5000;
  readonly #firstMs: number;
  #nextMs: number;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
    this.#nextMs = firstMs;
  }

  /** How long the next pause is, in milliseconds. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Waits, but no longer than until `signal` is given. */
  async pause(signal: AbortSignal): Promise<void> {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(Backoff.#LONGEST_MS, ms * 2);
    await pause(ms, signal);
  }

  /** What was tried for has come: the next pause is the first again. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}

/** Waits, but no longer than until `signal` is given. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
