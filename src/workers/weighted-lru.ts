/** What a `WeightedLru` may hold. */
export interface Bounds {
  readonly entries: number;
  /** In whatever unit weights are noted. */
  readonly weight: number;
}

/**
 * A map bounded in the number and in the weight of its entries: the least recently used one goes first. The last one
 * stays, however heavy it is. An entry weighs nothing until its weight is noted.
 */
export class WeightedLru<Key, Value> {
  readonly #bounds: Bounds;
  readonly #entries = new Map<Key, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Weight of all entries together. */
  get weight(): number {
    return this.#weight;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Deleted and set again, a key moves to the end of the map: the first one is the least recently used.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, { value, weight: 0 });
    this.#shrink();
  }

  /** Notes what a value weighs now, unless it is no longer the one that is held. */
  weigh(key: Key, value: Value, weight: number): void {
    const entry = this.#entries.get(key);
    if (entry?.value !== value) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight - entry.weight;
    this.#shrink();
  }

  delete(key: Key): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  #shrink(): void {
    const { entries, weight } = this.#bounds;
    for (const key of this.#entries.keys()) {
      const fits = this.#entries.size <= entries && this.#weight <= weight;
      if (fits || this.#entries.size === 1) return;
      this.delete(key);
    }
  }
}
