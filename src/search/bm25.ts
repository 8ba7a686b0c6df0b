/** The formulas of BM25, for whatever is ranked by words. */

/** The usual constants: how soon repetition stops to count, and how much length counts. */
const K1 = 1.2;
const B = 0.75;

/** What a word weighs that `holders` of `all` texts hold: over 0, the rarer the more. */
export function rarity(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

/**
 * How much of its weight a word gives that stands `times` in a text: 0 to 1, more in a text that is short for its kind.
 *
 * @param relativeLength length of the text, of which 1 is the mean
 */
export function saturation(times: number, relativeLength: number): number {
  return times / (times + K1 * (1 - B + B * relativeLength));
}
