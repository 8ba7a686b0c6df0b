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
