import { ThroughlineError } from '../contracts/errors.js';

/**
 * What was started, to be stopped in reverse order: last in, first out, once, and within a deadline.
 */
export class Releasers {
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
        await within(Math.max(1, deadline - performance.now()), next.release());
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

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
