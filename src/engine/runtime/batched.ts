/**
 * Lets requests share runs of the same work: at most one runs at a time, and what is asked for meanwhile is in the next
 * run, so every run begins after its requests were made.
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

/** Work that is asked for again and again, and never runs twice at once. */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Whether the work is to end soon. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Does the work, unless that is being done: then it is the same promise. */
  run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Waits for what is in hand. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }
}

/** Lets a fixed number run at a time; the others wait for their turn, in the order of their arrival. */
export class Semaphore {
  readonly #most: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // Work that ends hands its place on, so that no newcomer slips in between.
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
