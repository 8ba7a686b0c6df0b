/** Slots of one block: as many as an integer of JavaScript's bitwise operators has bits. */
export const BLOCK = 32;

/**
 * How many of the words asked for the fact in each slot holds, counted for a block of slots at a time.
 *
 * The counts of a block are bit planes: bit `s` of plane `p` is bit `p` of the count of slot `s`. So a word is counted
 * for all slots of a block, and those that reach a count are found, by a few bitwise operations.
 */
export class HitCounts {
  readonly #planes: Int32Array;
  /** Planes of a block. */
  readonly #depth: number;

  /** All 0, in so many blocks; none may rise above `most`. */
  constructor(blocks: number, most: number) {
    // Room for one more, so that `atLeast` can be asked for what none reaches.
    this.#depth = BLOCK - Math.clz32(most + 1);
    this.#planes = new Int32Array(blocks * this.#depth);
  }

  /** Adds 1 to each of these slots of a block, one bit for each. */
  add(block: number, slots: number): void {
    let plane = block * this.#depth;
    for (let carry = slots; carry !== 0; plane += 1) {
      const bits = this.#planes[plane] ?? 0;
      this.#planes[plane] = bits ^ carry;
      carry &= bits;
    }
  }

  /** The slots of a block that have at least so many, one bit for each. */
  atLeast(block: number, hits: number): number {
    let more = 0;
    let equal = -1;
    for (let p = this.#depth - 1; p >= 0; p -= 1) {
      const bits = this.#planes[block * this.#depth + p] ?? 0;
      if ((hits >> p) & 1) {
        equal &= bits;
      } else {
        more |= equal & bits;
        equal &= ~bits;
      }
    }
    return more | equal;
  }

  /** The count of one slot of a block. */
  of(block: number, slot: number): number {
    let hits = 0;
    for (let p = 0; p < this.#depth; p += 1) {
      hits |= (((this.#planes[block * this.#depth + p] ?? 0) >>> slot) & 1) << p;
    }
    return hits;
  }
}
