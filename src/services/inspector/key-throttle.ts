interface ThrottleOptions<Value> {
  readonly everyMs: number;
  /** Quiet time after which the newest value is repeated, in milliseconds. */
  readonly settledMs: number;
  readonly tell: (value: Value) => void;
}

interface Held<Value> {
  readonly told: Value;
  readonly untold?: Value;
  readonly isSettling: boolean;
  readonly timer: NodeJS.Timeout;
}

/**
 * Throttles values by key: the first immediately, then only the newest per interval. After a quiet period the last value is
 * repeated, because it may have been announced before it was stored.
 */
export class KeyThrottle<Value> {
  readonly #options: ThrottleOptions<Value>;
  readonly #held = new Map<string, Held<Value>>();

  constructor(options: ThrottleOptions<Value>) {
    this.#options = options;
  }

  push(key: string, value: Value): void {
    const held = this.#held.get(key);
    if (held?.isSettling === false) {
      this.#held.set(key, { ...held, untold: value });
    } else {
      clearTimeout(held?.timer);
      this.#tell(key, value);
    }
  }

  clear(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #tell(key: string, value: Value): void {
    const timer = setTimeout(() => this.#rested(key), this.#options.everyMs);
    this.#held.set(key, { told: value, isSettling: false, timer });
    this.#options.tell(value);
  }

  #rested(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    if (held.untold !== undefined) {
      this.#tell(key, held.untold);
      return;
    }
    const timer = setTimeout(() => {
      this.#held.delete(key);
      this.#options.tell(held.told);
    }, this.#options.settledMs);
    this.#held.set(key, { told: held.told, isSettling: true, timer });
  }
}
