import { BLOCK, HitCounts } from './hit-counts.js';

/** By term: the slots in which it stands. A term that is in many slots of a block takes no more room than in one. */
export class Postings {
  /** For each term, in turns: a block, and the bits of its slots. Blocks only rise. */
  readonly #byTerm = new Map<string, number[]>();

  /** Slots must come in rising order. */
  add(term: string, slot: number): void {
    const block = Math.floor(slot / BLOCK);
    const bit = 1 << (slot % BLOCK);
    const posted = this.#byTerm.get(term);
    if (posted === undefined) this.#byTerm.set(term, [block, bit]);
    else if (posted.at(-2) === block) posted[posted.length - 1] = (posted.at(-1) ?? 0) | bit;
    else posted.push(block, bit);
  }

  /** How many of the terms stand in each slot of so many blocks. */
  count(terms: Iterable<string>, blocks: number): HitCounts {
    const lists: (readonly number[])[] = [];
    for (const term of terms) {
      const posted = this.#byTerm.get(term);
      if (posted !== undefined) lists.push(posted);
    }
    const counts = new HitCounts(blocks, lists.length);
    for (const posted of lists) {
      for (let at = 0; at < posted.length; at += 2) counts.add(posted[at] ?? 0, posted[at + 1] ?? 0);
    }
    return counts;
  }
}
