import type { IndexedFact } from './fact-types.js';

/** The facts of one dispatch, as its rules gave them. */
interface OfDispatch {
  readonly sequence: number;
  readonly entries: IndexedFact[];
}

/** Facts in the order of their age, which is kept as they come and go: a query reads the newest, and sorts nothing. */
export class FactsByAge {
  /** Oldest first: nearly all that comes is the newest. */
  readonly #dispatches: OfDispatch[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds one with a slot over that of all others. */
  add(entry: IndexedFact): void {
    const sequence = entry.fact.sourceSequence;
    const at = this.#placeOf(sequence);
    const known = this.#dispatches[at];
    if (known?.sequence === sequence) known.entries.push(entry);
    else this.#dispatches.splice(at, 0, { sequence, entries: [entry] });
    this.#size += 1;
  }

  remove(entry: IndexedFact): void {
    const place = this.#placeOf(entry.fact.sourceSequence);
    const entries = this.#dispatches[place]?.entries ?? [];
    const at = entries.indexOf(entry);
    if (at < 0) return;
    this.#size -= 1;
    if (entries.length === 1) this.#dispatches.splice(place, 1);
    else entries.splice(at, 1);
  }

  /** The newest dispatch first, within one as its rules gave them. */
  *newestFirst(): Generator<IndexedFact, void> {
    for (let at = this.#dispatches.length - 1; at >= 0; at -= 1)
      yield* (this.#dispatches[at] as OfDispatch).entries;
  }

  /** Where a dispatch stands, or would. */
  #placeOf(sequence: number): number {
    const { length } = this.#dispatches;
    let low = 0;
    let high = length;
    if (length > 0 && (this.#dispatches[length - 1] as OfDispatch).sequence < sequence) return length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#dispatches[middle] as OfDispatch).sequence < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
