import { lowerBound } from '../../shared/collections.js';
/**
 * Folds dispatches in the order of the `DISPATCH` stream, whatever the order in which their events arrive.
 *
 * Extractors run concurrently and redeliver after a crash, so a session's log may contain a dispatch's event late,
 * twice, or both. The newest dispatches therefore stay in a sorted window; late ones are inserted, repeated ones
 * ignored. When the window is full, its oldest dispatch is settled: folded for good. Readers see the settled part with
 * the window folded on top (`current`).
 *
 * A dispatch older than the window is folded into the settled part on arrival, unless it has counted already. So
 * disorder within the window changes nothing, and beyond it nothing is lost or counted twice.
 */

import { CountedDispatches, type CountedJson } from './counted-dispatches.js';

/** Dispatches kept in order before they are settled. */
export const WINDOW_LENGTH = 64;

/** The fold of single dispatches, and the copy of its result. */
export interface DispatchFold<Entry, Folded> {
  /** Folds the entry in place. Entries come in ascending order, except one older than the window. */
  apply(folded: Folded, entry: Entry): void;
  copy(folded: Folded): Folded;
  /** Completes the readers' view after the window was folded. Default: nothing. */
  finish?(folded: Folded): void;
  /** True if an entry may be folded onto the completed view. Default: always. */
  follows?(folded: Folded, entry: Entry): boolean;
}

export interface DispatchWindowJson<Entry> {
  readonly recent: readonly Entry[];
  readonly counted: CountedJson;
}

/** `uncounted`: possibly repeated; changed nothing, and counts once it has a proof. */
type Insertion = 'folded' | 'replaced' | 'repeated' | 'uncounted';

interface InsertOptions<Entry> {
  /** True if the new entry replaces a known one of the same sequence. Default: never. */
  readonly replaces?: (known: Entry) => boolean;
  /** Sequence of its event in its log. */
  readonly event?: number;
  /** Sequence up to which the log was searched for an evicted dispatch. */
  readonly checked?: number | undefined;
}

export class DispatchWindow<Entry extends { readonly sequence: number }, Folded> {
  readonly #fold: DispatchFold<Entry, Folded>;
  readonly #settledPart: Folded;
  #recent: Entry[];
  readonly #counted: CountedDispatches;
  /** The readers' view; computed lazily. */
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

  /** Adds a dispatch. `repeated` means that it was known and nothing changed. */
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

  has(sequence: number): boolean {
    return this.#counted.has(sequence);
  }

  /** Returns 0 before the first. */
  newest(): number {
    return this.#counted.newest();
  }

  /** Returns everything folded so far, in dispatch order. Read-only. */
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

  /** Read-only. */
  counted(): CountedDispatches {
    return this.#counted;
  }

  /** Read-only. */
  settled(): Folded {
    return this.#settledPart;
  }

  /** Dispatches not settled yet, in order. */
  recent(): readonly Entry[] {
    return this.#recent;
  }

  toJSON(): DispatchWindowJson<Entry> {
    return { recent: this.#recent, counted: this.#counted.toJSON() };
  }

  /** Folds a new entry into the readers' view, or invalidates it. */
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
