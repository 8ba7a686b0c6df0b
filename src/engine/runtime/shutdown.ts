import { setFlagsFromString } from 'node:v8';
import { ThroughlineError } from '../../contracts/errors.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';

/**
 * What was started, to be stopped in reverse order: last in, first out, once, and within a deadline.
 */
export class Shutdown {
  readonly #stack: { readonly name: string; readonly release: () => Promise<void> }[] = [];
  #released: Promise<void> | undefined;

  /** Adds what stops something; `name` says in an error what did not stop. */
  add(name: string, release: () => Promise<void>): void {
    this.#stack.push({ name, release });
  }

  /**
   * Stops everything. One that fails does not keep the others from stopping; a second call waits for the first.
   *
   * @throws ThroughlineError `internal` that names what failed or was not done within `deadlineMs`
   */
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
        if (done === LATE) throw new Error(`not done within ${Math.round(leftMs)} ms`);
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

/**
 * Lets the heap of this process double between two collections, and no more. Where a machine has much memory the engine
 * lets it grow fourfold, which a service pays with memory that others on the machine could use.
 */
export function growHeapSlowly(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
