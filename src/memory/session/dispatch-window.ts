import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { RESULT_KEY_LENGTH } from '../../contracts/results.js';
import { dropOldest, lowerBound } from '../../shared/collections.js';
import { readNumber, writeNumber, writtenLength } from '../../shared/varint.js';

/**
 * Folds dispatches in the order of the `DISPATCH` stream, whatever the order in which their events arrive.
 *
 * Extractors run concurrently and redeliver after a crash, so a session's log may contain a dispatch's event late. The newest
 * dispatches therefore stay in a sorted window; late ones are inserted, repeated ones ignored. When the window is full, its
 * oldest dispatch is settled: folded for good. Readers see the settled part with the window folded on top (`current`).
 *
 * A dispatch older than the window is folded into the settled part on arrival, unless it has counted already. So
 * disorder within the window changes nothing, and beyond it nothing is lost or counted twice.
 */

/** Dispatches kept in order before they are settled. */
export const WINDOW_LENGTH = 64;

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

export class DispatchWindow<Entry extends { readonly sequence: number }, Folded> {
  readonly #fold: DispatchFold<Entry, Folded>;
  readonly #settledPart: Folded;
  #recent: Entry[];
  #counted: CountedDispatches;
  /** The readers' view; computed lazily. */
  #current: Folded | undefined;
  /** Entries folded into the readers' view since it was last read. */
  #unread = 0;

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

  /** Adds a dispatch; returns false if it was known, and nothing changed. */
  insert(entry: Entry): boolean {
    if (!this.#counted.count(entry.sequence)) return false;
    const at = this.#position(entry.sequence);
    this.#recent.splice(at, 0, entry);
    this.#show(entry, at);
    if (this.#recent.length > WINDOW_LENGTH) {
      const oldest = this.#recent.shift();
      if (oldest !== undefined) this.#fold.apply(this.#settledPart, oldest);
    }
    return true;
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
    this.#unread = 0;
    if (this.#current === undefined) {
      this.#current = this.#fold.copy(this.#settledPart);
      for (const entry of this.#recent) this.#fold.apply(this.#current, entry);
      this.#fold.finish?.(this.#current);
    }
    return this.#current;
  }

  /** Frees the readers' view, which is derived again when it is asked for. */
  dropCurrent(): void {
    this.#current = undefined;
  }

  /** Folds all dispatches for good, and forgets that they counted: their numbers belong to another installation. */
  settle(): void {
    for (const entry of this.#recent) this.#fold.apply(this.#settledPart, entry);
    this.#recent = [];
    this.#counted = new CountedDispatches();
    this.#current = undefined;
  }

  /** Changes the settled part by something other than a dispatch. */
  change(how: (settled: Folded) => void): void {
    how(this.#settledPart);
    this.dropCurrent();
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

  /** Folds a new entry into the readers' view, or invalidates it: so many unread ones cost as much as deriving it again. */
  #show(entry: Entry, at: number): void {
    if (this.#current === undefined) return;
    this.#unread += 1;
    const isNewest = at === this.#recent.length - 1;
    if (isNewest && this.#unread <= WINDOW_LENGTH && (this.#fold.follows?.(this.#current, entry) ?? true))
      this.#fold.apply(this.#current, entry);
    else this.#current = undefined;
  }

  #position(sequence: number): number {
    const newest = this.#recent.at(-1);
    if (newest === undefined || newest.sequence < sequence) return this.#recent.length;
    return lowerBound(this.#recent, sequence, (entry) => entry.sequence);
  }
}

/**
 * Remembers which dispatches have counted.
 *
 * The newest sequences are kept exactly: in a sorted list here, in a snapshot as delta-encoded varints. Beyond the limit
 * the lowest are evicted; the highest evicted one is the floor. A dispatch at or below the floor counts: its log has each dispatch
 * once, and its writer has searched it. It does not if a checkpoint may have removed an earlier event of it.
 */
export const MAX_COUNTED = 23_040;

/** Characters of the deltas of so many dispatches, however far apart. */
const MOST_STEPS = 300_000;

export const countedJson = z.object({
  /** Highest evicted sequence; 0 for none. */
  floor: z.number(),
  /** Base64 of varint deltas from the floor, ascending. */
  steps: z.string().max(MOST_STEPS),
  /** The floor at the newest checkpoint: the event of a dispatch at or below it may be removed. */
  removed: z.number(),
});
export type CountedJson = z.output<typeof countedJson>;

/** Evicted sequences are cut off in groups: cutting each off would move all others. */
const CUT_OFF = 4096;

export class CountedDispatches {
  readonly #most: number;
  /** Ascending; those before `#from` are evicted. */
  #sequences: number[] = [];
  #from = 0;
  #floor: number;
  /** The floor at the newest checkpoint, before which events may be removed; 0 without one. */
  readonly removed: number;

  constructor(json: CountedJson = { floor: 0, steps: '', removed: 0 }, most = MAX_COUNTED) {
    this.#most = most;
    this.#floor = json.floor;
    this.removed = json.removed;
    const steps = Buffer.from(json.steps, 'base64');
    for (let at = 0, sequence = json.floor; at < steps.length; ) {
      const step = readNumber(steps, at);
      at = step.next;
      sequence += step.value;
      if (!(step.value >= 1 && sequence <= Number.MAX_SAFE_INTEGER))
        throw new ThroughlineError('schema_invalid', 'the steps of counted dispatches are damaged');
      this.#sequences.push(sequence);
    }
  }

  /** Highest evicted sequence; 0 for none. */
  get floor(): number {
    return this.#floor;
  }

  get size(): number {
    return this.#sequences.length - this.#from;
  }

  /** Returns 0 before the first. */
  newest(): number {
    return this.#sequences.at(-1) ?? this.#floor;
  }

  /** True if the dispatch is known to have counted. */
  has(sequence: number): boolean {
    return sequence > this.#floor && this.#sequences[this.#placeOf(sequence)] === sequence;
  }

  /** Adds a dispatch; returns false if it does not count, since it may have counted before. */
  count(sequence: number): boolean {
    if (sequence <= this.#floor) return sequence > this.removed;
    // Nearly always it is the newest.
    if (sequence <= this.newest() && this.has(sequence)) return false;
    if (sequence > this.newest()) this.#sequences.push(sequence);
    else this.#sequences.splice(this.#placeOf(sequence), 0, sequence);
    if (this.size > this.#most) {
      this.#floor = this.#sequences[this.#from] ?? this.#floor;
      this.#from += 1;
    }
    if (this.#from === CUT_OFF) {
      this.#sequences = this.#sequences.slice(CUT_OFF);
      this.#from = 0;
    }
    return true;
  }

  toJSON(): CountedJson {
    const kept = this.#sequences.slice(this.#from);
    const deltas = kept.map((sequence, at) => sequence - (kept[at - 1] ?? this.#floor));
    const steps = Buffer.alloc(deltas.reduce((bytes, delta) => bytes + writtenLength(delta), 0));
    deltas.reduce((at, delta) => writeNumber(steps, at, delta), 0);
    return { floor: this.#floor, steps: steps.toString('base64'), removed: this.removed };
  }

  #placeOf(sequence: number): number {
    return lowerBound(this.#sequences, sequence, (stored) => stored);
  }
}

/** Limit of remembered result keys, which detect a repeated result. A result older than all of these counts again. */
export const REMEMBERED_RESULTS = 2000;

export function countResult(counted: Set<string>, key: string): boolean {
  if (counted.has(key)) return false;
  counted.add(key);
  dropOldest(counted, REMEMBERED_RESULTS);
  return true;
}

/** Concatenates all keys, the oldest first. */
export function resultsToJson(counted: ReadonlySet<string>): string {
  return [...counted].join('');
}

export function resultsFromJson(text: string): Set<string> {
  const counted = new Set<string>();
  for (let at = 0; at < text.length; at += RESULT_KEY_LENGTH) {
    counted.add(text.slice(at, at + RESULT_KEY_LENGTH));
  }
  return counted;
}
