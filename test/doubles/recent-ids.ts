/**
 * The sequences of the newest messages by message id: a dedupe window counted in messages, not in time, so that a
 * simulation decides when it ends.
 */
export class RecentIds {
  readonly #max: number;
  readonly #sequences = new Map<string, number>();

  /** @param max ids remembered; 0 disables deduplication */
  constructor(max: number) {
    this.#max = max;
  }

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

/** More than any test stores within two minutes. */
export const DEFAULT_DEDUPE_LAST = 100_000;
