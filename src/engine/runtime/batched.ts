/**
 * Coalesces requests: at most one run is active, and requests that arrive meanwhile share the next one. So every run begins
 * after its requests.
 */
export function batched<Request, Answer>(
  run: (requests: readonly Request[]) => Promise<Answer>,
): (request: Request) => Promise<Answer> {
  let waiting: { readonly requests: Request[]; readonly answer: Promise<Answer> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (request) => {
    if (waiting === undefined) {
      const requests: Request[] = [];
      const answer = running.then(() => {
        waiting = undefined;
        return run(requests);
      });
      running = answer.catch(() => undefined);
      waiting = { requests, answer };
    }
    waiting.requests.push(request);
    return waiting.answer;
  };
}

/** Runs work that is requested repeatedly, never twice at once. */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Starts the work, or returns the promise of the running one. */
  run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Waits for the running work. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }
}

/** A fair semaphore: waiters run in order of arrival. */
export class Semaphore {
  readonly #most: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // A finishing holder hands its permit over, so that no newcomer gets in between.
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
