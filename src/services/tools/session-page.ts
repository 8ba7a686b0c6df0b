import type { Row } from '../common/session-table.js';

/** Where a page ended. */
export interface PagePlace {
  /** 0 for stalled sessions, 1 for those that wait, 2 for the others, 3 for those that moved since the first page. */
  readonly rank: number;
  /** When the session moved last, in milliseconds since 1970. */
  readonly at: number;
  readonly session: string;
  /** When the first page was made. */
  readonly asOf: number;
}

const MOVED_SINCE = 3;

/**
 * Picks a page from all sessions in one pass: stalled ones first, then those that wait, then the others, each the newest
 * first.
 *
 * Sessions move while someone pages. One that moved since the first page comes after all others, in the order of names: it
 * may come twice, and is never passed over.
 */
export class SessionPage {
  readonly #limit: number;
  readonly #begin: PagePlace | undefined;
  readonly #best: { readonly row: Row; readonly place: PagePlace }[] = [];
  /** Sessions that fit. */
  total = 0;
  #after = 0;
  #asOf: number;

  /** @param begin where the page before ended; the first page by default */
  constructor(limit: number, begin: PagePlace | undefined, now: number) {
    this.#limit = limit;
    this.#begin = begin;
    this.#asOf = begin?.asOf ?? now;
  }

  offer(row: Row, rank: number): void {
    this.total += 1;
    const { session, at } = row;
    // On the first page nothing has moved since, whatever the clocks of other machines say.
    if (this.#begin === undefined) this.#asOf = Math.max(this.#asOf, at);
    const isLate = this.#begin !== undefined && at > this.#asOf;
    const place = { rank: isLate ? MOVED_SINCE : rank, at, session, asOf: this.#asOf };
    if (this.#begin !== undefined && inOrder(place, this.#begin) <= 0) return;
    this.#after += 1;
    const last = this.#best.at(-1);
    if (this.#best.length === this.#limit && last !== undefined && inOrder(place, last.place) > 0) return;
    let [from, to] = [0, this.#best.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.#best[middle];
      if (other !== undefined && inOrder(other.place, place) < 0) from = middle + 1;
      else to = middle;
    }
    this.#best.splice(from, 0, { row, place });
    if (this.#best.length > this.#limit) this.#best.pop();
  }

  get rows(): Row[] {
    return this.#best.map(({ row }) => row);
  }

  /** Where the next page begins; none after the last. */
  get next(): PagePlace | undefined {
    const last = this.#best.at(-1)?.place;
    return last && this.#after > this.#best.length ? { ...last, asOf: this.#asOf } : undefined;
  }
}

function inOrder(one: PagePlace, other: PagePlace): number {
  const names = one.session === other.session ? 0 : one.session < other.session ? -1 : 1;
  if (one.rank !== other.rank) return one.rank - other.rank;
  return one.rank === MOVED_SINCE ? names : other.at - one.at || names;
}
