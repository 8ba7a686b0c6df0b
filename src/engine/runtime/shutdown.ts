import { setFlagsFromString } from 'node:v8';
import { ThroughlineError } from '../../contracts/errors.js';
import { LATE, withinDeadline } from '../../shared/deadlines.js';

/** Releases resources in reverse order: last in, first out, once, and within a deadline. */
export class Shutdown {
  readonly #stack: { readonly name: string; readonly release: () => Promise<void> }[] = [];
  #released: Promise<void> | undefined;

  add(name: string, release: () => Promise<void>): void {
    this.#stack.push({ name, release });
  }

  /** Releases everything; later calls wait for the first. Throws `internal` for what failed or exceeded `deadlineMs`. */
  release(deadlineMs: number): Promise<void> {
    this.#released ??= this.#run(deadlineMs);
    return this.#released;
  }

  async #run(deadlineMs: number): Promise<void> {
    const failed: string[] = [];
    let cause: unknown;
    const deadline = performance.now() + deadlineMs;
    for (let next = this.#stack.pop(); next !== undefined; next = this.#stack.pop()) {
      try {
        const leftMs = Math.max(1, deadline - performance.now());
        const done = await withinDeadline(leftMs, next.release());
        if (done === LATE) throw new Error(`timed out after ${Math.round(leftMs)} ms`);
      } catch (error) {
        failed.push(next.name);
        cause ??= error;
      }
    }
    if (failed.length > 0) {
      throw new ThroughlineError('internal', `could not be stopped properly: ${failed.join(', ')}`, {
        cause,
      });
    }
  }
}

/** Limits heap growth between collections to 1.6 times of what is in use, and new objects to what they start with. */
export function growHeapSlowly(): void {
  setFlagsFromString('--heap-growing-percent=60');
  setFlagsFromString('--semi-space-growth-factor=1');
}
