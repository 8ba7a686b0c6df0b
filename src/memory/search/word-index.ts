import { lowerBound } from '../../shared/collections.js';

export interface IndexedText {
  /** Higher than that of each text added before. */
  readonly slot: number;
  /** Distinct tokens, and how often it has each. */
  readonly words: readonly string[];
  readonly times: readonly number[];
  /** Its size in words, which makes each of them count less. */
  readonly length: number;
}

/** The texts that have a word, and how often each has it. */
interface Posting<Text> {
  readonly entries: Text[];
  readonly times: number[];
}

const NOWHERE: Posting<never> = { entries: [], times: [] };

/** The one index of words: facts, changed files and learnings are found by it, with BM25. */
export class WordIndex<Text extends IndexedText> {
  readonly #postings = new Map<string, Posting<Text>>();
  #texts = 0;
  #words = 0;

  get size(): number {
    return this.#texts;
  }

  get averageLength(): number {
    return this.#texts === 0 ? 1 : this.#words / this.#texts;
  }

  of(word: string): Posting<Text> {
    return this.#postings.get(word) ?? NOWHERE;
  }

  add(text: Text): void {
    this.#texts += 1;
    this.#words += text.length;
    for (const [at, word] of text.words.entries()) {
      const posting = this.#postings.get(word) ?? { entries: [], times: [] };
      this.#postings.set(word, posting);
      posting.entries.push(text);
      posting.times.push(text.times[at] as number);
    }
  }

  remove(text: Text): void {
    this.#texts -= 1;
    this.#words -= text.length;
    for (const word of text.words) {
      const { entries, times } = this.of(word);
      const at = placeIn(entries, text);
      if (entries.length === 1) this.#postings.delete(word);
      else if (at >= 0) for (const list of [entries, times]) list.splice(at, 1);
    }
  }

  /**
   * Calls `found` with each text that has a word of the query, the times that it has it, and its score for the word: the share
   * of the query's weight that the word has, less in a long text. The scores of a text add up to at most 1.
   */
  search(
    words: readonly string[],
    found: (text: Text, score: number, word: string, times: number) => void,
  ): void {
    const weights = words.map((word) => rarity(this.of(word).entries.length, this.#texts));
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [place, word] of words.entries()) {
      const share = (weights[place] as number) / whole;
      const { entries, times } = this.of(word);
      for (const [at, text] of entries.entries()) {
        const count = times[at] as number;
        found(text, share * saturation(count, text.length / this.averageLength), word, count);
      }
    }
  }
}

/** Returns the index of a text in a list sorted by slot; -1 if it is not there. */
export function placeIn<Text extends Pick<IndexedText, 'slot'>>(texts: readonly Text[], text: Text): number {
  const at = lowerBound(texts, text.slot, ({ slot }) => slot);
  return texts[at] === text ? at : -1;
}

/** The usual constants: saturation of repetitions, and weight of length. */
const K1 = 1.2;
const B = 0.75;

/** Returns the inverse document frequency: above 0, higher for rarer words. */
export function rarity(holders: number, all: number): number {
  return Math.log(1 + (all - holders + 0.5) / (holders + 0.5));
}

/**
 * Returns the share of a word's weight for `times` occurrences: 0 to 1, higher in short texts.
 *
 * @param relativeLength length relative to the mean
 */
export function saturation(times: number, relativeLength: number, weightOfLength = B): number {
  return times / (times + K1 * (1 - weightOfLength + weightOfLength * relativeLength));
}
