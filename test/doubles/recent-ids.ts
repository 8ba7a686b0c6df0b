/**
 * The sequences of the newest messages by message id: a dedupe window counted in messages, not in time, so that a
 * simulation decides when it has passed.
 */
export class RecentIds {
  readonly #max: number;
  readonly #sequences = new Map<string, number>();

  /** @param max ids remembered; 0: the window has always passed already */
  constructor(max: number) {
    this.#max = max;
  }

  /** Sequence of the message that was stored with this id, if it is still remembered. */
  get(id: string): number | undefined {
    return this.#sequences.get(id);
  }

  add(id: string, sequence: number): void {
    this.#sequences.set(id, sequence);
    if (this.#sequences.size <= this.#max) return;
    const oldest = this.#sequences.keys().next();
    if (!oldest.done) this.#sequences.delete(oldest.value);
  }
}

/** Remembered by default: more than any test stores within two minutes. */
export const DEFAULT_DEDUPE_LAST = 100_000;
