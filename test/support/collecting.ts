import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects garbage every few milliseconds until it is stopped: what nothing holds is soon gone. */
export class GarbageCollection {
  readonly #timer: NodeJS.Timeout;
  #rounds = 0;
  #seen = new Set<() => void>();

  constructor() {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    this.#timer = setInterval(() => {
      collect();
      this.#rounds += 1;
      for (const look of this.#seen) look();
    }, 10);
  }

  /** Ends when garbage was collected some more times. */
  async rounds(more: number): Promise<void> {
    const until = this.#rounds + more;
    await new Promise<void>((resolve) => {
      const look = () => {
        if (this.#rounds < until) return;
        this.#seen.delete(look);
        resolve();
      };
      this.#seen.add(look);
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
