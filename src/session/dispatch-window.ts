/**
 * Folds dispatches in the order of the `DISPATCH` stream, whatever the order in which their events arrive.
 *
 * Extractors run side by side and redeliver after a crash, so a session's log may hold a dispatch's event late, twice,
 * or both. The newest dispatches therefore stay in a window, sorted; one that arrives late takes its place among
 * them, one that arrives twice is ignored. When the window is full its oldest dispatch is settled: folded for good.
 * What readers see is the settled part with the window folded on top (`current`).
 *
 * A dispatch older than everything in the window is folded into the settled part on arrival, unless it is remembered
 * as settled already. So up to a window's length of disorder changes nothing at all, and beyond it nothing is lost or
 * counted twice.
 */

/** Dispatches kept in order before they are settled. */
export const WINDOW_LENGTH = 64;
/** Settled dispatches that are remembered, to tell a late one from a repeated one. */
export const SETTLED_MEMORY = 4096;

/** How one dispatch at a time is folded, and how what was folded is copied. */
export interface DispatchFold<Entry, Folded> {
  /** Folds the entry in place. Entries come in ascending order, but for one that is older than the window. */
  apply(folded: Folded, entry: Entry): void;
  copy(folded: Folded): Folded;
}

/** The window as plain JSON. */
export interface DispatchWindowJson<Entry> {
  readonly recent: readonly Entry[];
  /** Settled sequences, ascending: the first one, then the steps from each to the next. */
  readonly settled: readonly number[];
}

export type Insertion = 'folded' | 'replaced' | 'repeated';

export class DispatchWindow<Entry extends { readonly sequence: number }, Folded> {
  readonly #fold: DispatchFold<Entry, Folded>;
  readonly #settledPart: Folded;
  #recent: Entry[];
  #settledSequences: number[];
  /** Settled part with the window on top; made when first asked for. */
  #current: Folded | undefined;

  constructor(
    fold: DispatchFold<Entry, Folded>,
    settledPart: Folded,
    json: DispatchWindowJson<Entry> = { recent: [], settled: [] },
  ) {
    this.#fold = fold;
    this.#settledPart = settledPart;
    this.#recent = [...json.recent];
    this.#settledSequences = fromSteps(json.settled);
  }

  /**
   * Takes in one dispatch. `repeated` means that it was known and nothing changed.
   *
   * @param replaces whether the new entry shall stand in for a known one of the same sequence
   */
  insert(entry: Entry, replaces: (known: Entry) => boolean = () => false): Insertion {
    const at = this.#position(entry.sequence);
    const known = this.#recent[at];
    if (known?.sequence === entry.sequence) {
      if (!replaces(known)) return 'repeated';
      this.#recent[at] = entry;
      this.#current = undefined;
      return 'replaced';
    }
    if (at === 0 && this.#isSettled(entry.sequence)) return 'repeated';
    this.#recent.splice(at, 0, entry);
    if (at < this.#recent.length - 1) this.#current = undefined;
    else if (this.#current !== undefined) this.#fold.apply(this.#current, entry);
    if (this.#recent.length > WINDOW_LENGTH) {
      const oldest = this.#recent.shift();
      if (oldest !== undefined) this.#settle(oldest);
    }
    return 'folded';
  }

  /** Whether this dispatch has been folded. */
  has(sequence: number): boolean {
    return this.#recent[this.#position(sequence)]?.sequence === sequence || this.#isSettled(sequence);
  }

  /** The newest dispatch folded, 0 before the first. */
  newest(): number {
    return this.#recent.at(-1)?.sequence ?? this.#settledSequences.at(-1) ?? 0;
  }

  /** Everything folded so far, in dispatch order. Not to be changed by the caller. */
  current(): Folded {
    if (this.#current === undefined) {
      this.#current = this.#fold.copy(this.#settledPart);
      for (const entry of this.#recent) this.#fold.apply(this.#current, entry);
    }
    return this.#current;
  }

  /** The settled part. Not to be changed by the caller. */
  settled(): Folded {
    return this.#settledPart;
  }

  /** The dispatches that are not settled yet, in their order. */
  recent(): readonly Entry[] {
    return this.#recent;
  }

  toJSON(): DispatchWindowJson<Entry> {
    return { recent: this.#recent, settled: toSteps(this.#settledSequences) };
  }

  #settle(entry: Entry): void {
    this.#fold.apply(this.#settledPart, entry);
    const at = lowerBound(this.#settledSequences, entry.sequence, (sequence) => sequence);
    this.#settledSequences.splice(at, 0, entry.sequence);
    if (this.#settledSequences.length > SETTLED_MEMORY) this.#settledSequences.shift();
  }

  /** Also true below everything remembered: so old a dispatch can only be a repetition. */
  #isSettled(sequence: number): boolean {
    const settled = this.#settledSequences;
    if (settled.length === SETTLED_MEMORY && sequence < (settled[0] ?? 0)) return true;
    return settled[lowerBound(settled, sequence, (value) => value)] === sequence;
  }

  #position(sequence: number): number {
    const newest = this.#recent.at(-1);
    if (newest === undefined || newest.sequence < sequence) return this.#recent.length;
    return lowerBound(this.#recent, sequence, (entry) => entry.sequence);
  }
}

/** Index of the first item whose key is not below `key`. */
function lowerBound<T>(sorted: readonly T[], key: number, keyOf: (item: T) => number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && keyOf(item) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function toSteps(sequences: readonly number[]): number[] {
  return sequences.map((sequence, index) => sequence - (sequences[index - 1] ?? 0));
}

function fromSteps(steps: readonly number[]): number[] {
  let sequence = 0;
  return steps.map((step) => {
    sequence += step;
    return sequence;
  });
}
