/**
 * Folds dispatches in the order of the `DISPATCH` stream, whatever the order in which their events arrive.
 *
 * Extractors run side by side and redeliver after a crash, so a session's log may hold a dispatch's event late, twice,
 * or both. The newest dispatches therefore stay in a window, sorted; one that arrives late takes its place among
 * them, one that arrives twice is ignored. When the window is full its oldest dispatch is settled: folded for good.
 * What readers see is the settled part with the window folded on top (`current`).
 *
 * A dispatch older than everything in the window is folded into the settled part on arrival, unless it has counted
 * already. So up to a window's length of disorder changes nothing at all, and beyond it nothing is lost or counted twice.
 */

import { CountedDispatches, type CountedJson } from './counted-dispatches.js';

/** Dispatches kept in order before they are settled. */
export const WINDOW_LENGTH = 64;

/** How one dispatch at a time is folded, and how what was folded is copied. */
export interface DispatchFold<Entry, Folded> {
  /** Folds the entry in place. Entries come in ascending order, but for one that is older than the window. */
  apply(folded: Folded, entry: Entry): void;
  copy(folded: Folded): Folded;
  /** Ends what readers see, once the window has been folded on top. Default: nothing is to be ended. */
  finish?(folded: Folded): void;
  /** Whether an entry may be folded on top of what was ended. Default: always. */
  follows?(folded: Folded, entry: Entry): boolean;
}

/** The window as plain JSON. */
export interface DispatchWindowJson<Entry> {
  readonly recent: readonly Entry[];
  readonly counted: CountedJson;
}

/** `uncounted`: perhaps a repetition, perhaps not; it changed nothing, and counts once it brings a proof. */
type Insertion = 'folded' | 'replaced' | 'repeated' | 'uncounted';

interface InsertOptions<Entry> {
  /** Whether the new entry shall stand in for a known one of the same sequence. Default: never. */
  readonly replaces?: (known: Entry) => boolean;
  /** Sequence of the event that brings it, in its log. */
  readonly event?: number;
  /** Sequence up to which the log was looked through for a dispatch that may be forgotten. */
  readonly checked?: number | undefined;
}

export class DispatchWindow<Entry extends { readonly sequence: number }, Folded> {
  readonly #fold: DispatchFold<Entry, Folded>;
  readonly #settledPart: Folded;
  #recent: Entry[];
  readonly #counted: CountedDispatches;
  /** Settled part with the window on top; made when first asked for. */
  #current: Folded | undefined;

  constructor(
    fold: DispatchFold<Entry, Folded>,
    settledPart: Folded,
    { recent = [], counted }: Partial<DispatchWindowJson<Entry>> = {},
  ) {
    this.#fold = fold;
    this.#settledPart = settledPart;
    this.#recent = [...recent];
    this.#counted = new CountedDispatches(counted);
  }

  /**
   * Takes in one dispatch. `repeated` means that it was known and nothing changed.
   */
  insert(entry: Entry, { replaces = () => false, event = 0, checked }: InsertOptions<Entry> = {}): Insertion {
    const at = this.#position(entry.sequence);
    const known = this.#recent[at];
    if (known?.sequence === entry.sequence) {
      if (!replaces(known)) return 'repeated';
      this.#recent[at] = entry;
      this.#current = undefined;
      return 'replaced';
    }
    if (!this.#counted.count(entry.sequence, event, checked)) {
      return this.#counted.has(entry.sequence) ? 'repeated' : 'uncounted';
    }
    this.#recent.splice(at, 0, entry);
    this.#show(entry, at);
    if (this.#recent.length > WINDOW_LENGTH) {
      const oldest = this.#recent.shift();
      if (oldest !== undefined) this.#fold.apply(this.#settledPart, oldest);
    }
    return 'folded';
  }

  /** Whether this dispatch has been folded. */
  has(sequence: number): boolean {
    return this.#counted.has(sequence);
  }

  /** The newest dispatch folded, 0 before the first. */
  newest(): number {
    return this.#counted.newest();
  }

  /** Everything folded so far, in dispatch order. Not to be changed by the caller. */
  current(): Folded {
    if (this.#current === undefined) {
      this.#current = this.#fold.copy(this.#settledPart);
      for (const entry of this.#recent) this.#fold.apply(this.#current, entry);
      this.#fold.finish?.(this.#current);
    }
    return this.#current;
  }

  /** Changes the settled part by something other than a dispatch. */
  change(how: (settled: Folded) => void): void {
    how(this.#settledPart);
    this.#current = undefined;
  }

  /** Which dispatches have counted. Not to be changed by the caller. */
  counted(): CountedDispatches {
    return this.#counted;
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
    return { recent: this.#recent, counted: this.#counted.toJSON() };
  }

  /** Has readers see an entry that now stands in the window. */
  #show(entry: Entry, at: number): void {
    if (this.#current === undefined) return;
    const isNewest = at === this.#recent.length - 1;
    if (isNewest && (this.#fold.follows?.(this.#current, entry) ?? true))
      this.#fold.apply(this.#current, entry);
    else this.#current = undefined;
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
