/** Time as the memory ports see it, passed in so that a test or simulation drives it. */
export interface Scheduler {
  now(): number;
  after(delayMs: number, task: () => void): Cancel;
}

export type Cancel = () => void;

export interface ManualSchedulerOptions {
  /** Selects which of `count` tasks due at the same moment runs first, from 0. Default: the earliest scheduled. */
  readonly pick?: (count: number) => number;
}

interface Task {
  readonly at: number;
  readonly run: () => void;
}

/** A scheduler whose time only moves when a test advances it: the same calls always give the same order. */
export class ManualScheduler implements Scheduler {
  readonly #pick: (count: number) => number;
  readonly #tasks = new Set<Task>();
  #now = Date.UTC(2026, 0, 1);

  constructor({ pick = () => 0 }: ManualSchedulerOptions = {}) {
    this.#pick = pick;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): Cancel {
    const task = { at: this.#now + Math.max(0, delayMs), run };
    this.#tasks.add(task);
    return () => {
      this.#tasks.delete(task);
    };
  }

  /** Advances time by `ms` and runs the tasks that are due; promises that a task settles are awaited before the next task. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let task = this.#next(until); task !== undefined; task = this.#next(until)) {
      this.#tasks.delete(task);
      this.#now = task.at;
      task.run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = until;
  }

  #next(until: number): Task | undefined {
    let due: Task[] = [];
    for (const task of this.#tasks) {
      const earliest = due[0]?.at ?? until;
      if (task.at < earliest) due = [task];
      else if (task.at === earliest) due.push(task);
    }
    return due[due.length > 1 ? this.#pick(due.length) : 0];
  }
}
