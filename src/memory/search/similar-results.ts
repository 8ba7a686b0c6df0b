import { FILE_CLASSES } from './file-class.js';
import type { PastResults, PastRow } from './past-results.js';
import { isTelling, tokens } from './tokens.js';

/** A past result with its similarity to a query, 0 to 1. */
export interface SimilarResult {
  readonly row: PastRow;
  readonly similarity: number;
}

/** How many past results touched files of each class, in the order of `FILE_CLASSES`. */
export interface TouchedClasses {
  readonly ofAll: readonly number[];
  /** By word of the query that any result holds: of those that hold it, and how many these are. */
  readonly ofWords: readonly { readonly classes: readonly number[]; readonly holders: number }[];
}

/** Most past results that speak for files. */
export const SIMILAR = 20;
/** Results after which a past result is worth half. */
const HALF_LIFE = 600;

/**
 * The past results that are most like a query, best first, the newest of equal ones, and what results with its words
 * touched. All results with all their words are looked at: once, for both.
 */
export function similarResults(
  past: PastResults,
  asked: readonly string[],
): { readonly similar: readonly SimilarResult[]; readonly touched: TouchedClasses } {
  const { rows, holders } = past;
  const { classes } = past.paths;
  const { weights, places, askedWeights, askedWeight, words } = weighed(past, asked);
  const similar: SimilarResult[] = [];
  /** By the classes that results touched, as bits: how many did, then how many of them hold each word. */
  const counts = new Map<number, Uint32Array>();
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] as PastRow;
    const { tokens: held, files } = row;
    let mask = 0;
    for (let at = 0; at < files.length; at += 1) mask |= 1 << (classes[files[at] as number] ?? 0);
    let count = counts.get(mask);
    if (count === undefined) {
      count = new Uint32Array(words.length + 1);
      counts.set(mask, count);
    }
    count[0] = (count[0] as number) + 1;
    let common = 0;
    let weight = 0;
    for (let at = 0; at < held.length; at += 1) {
      const word = held[at] as number;
      weight += weights[word] as number;
      const place = places[word] as number;
      if (place === 0) continue;
      common += askedWeights[place] as number;
      count[place] = (count[place] as number) + 1;
    }
    if (common === 0) continue;
    const likeness = common / Math.sqrt(askedWeight * weight);
    insert(similar, row, likeness * 0.5 ** ((rows.length - index) / HALF_LIFE));
  }
  const ofPlace = (place: number) => {
    const sums = FILE_CLASSES.map(() => 0);
    for (const [mask, count] of counts)
      for (let bit = 0; bit < sums.length; bit += 1)
        if ((mask >> bit) & 1) sums[bit] = (sums[bit] as number) + (count[place] as number);
    return sums;
  };
  const ofWords = words.map((word, at) => ({ classes: ofPlace(at + 1), holders: holders[word] ?? 0 }));
  return { similar, touched: { ofAll: ofPlace(0), ofWords } };
}

/** What each word weighs, of all results and of the query: found once, since each stands in many results. */
function weighed(past: PastResults, asked: readonly string[]) {
  const { rows, holders } = past;
  // By number of holders, since a logarithm takes longer than all else.
  const squares: number[] = [];
  const weightOf = (held: number) => {
    const square = squares[held] ?? rarity(held, rows.length) ** 2;
    squares[held] = square;
    return square;
  };
  const weights = new Float64Array(holders.length);
  for (let word = 0; word < holders.length; word += 1) weights[word] = weightOf(holders[word] ?? 0);
  /** By number: from 1 on the place of a word among those of the query, 0 for all others. */
  const places = new Int32Array(holders.length);
  const words: number[] = [];
  const askedWeights = [0];
  let askedWeight = 0;
  for (const token of asked) {
    const word = past.wordOf(token);
    const weight = weightOf(word === undefined ? 0 : (holders[word] ?? 0));
    askedWeight += weight;
    if (word === undefined) continue;
    places[word] = words.push(word);
    askedWeights.push(weight);
  }
  return { weights, places, words, askedWeights, askedWeight };
}

function insert(best: SimilarResult[], row: PastRow, similarity: number): void {
  let at = best.length;
  // A newer one of the same similarity goes before.
  while (at > 0 && (best[at - 1]?.similarity ?? 0) <= similarity) at -= 1;
  if (at >= SIMILAR) return;
  best.splice(at, 0, { row, similarity });
  if (best.length > SIMILAR) best.pop();
}

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

/**
 * The items whose text shares a telling word with a query, best first, at most `most`; equal ones in the order in which
 * they came. For texts so few that they are read at each question; an index is worth it for more.
 */
export function rankTexts<Item>(
  query: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
  most: number,
): Item[] {
  const asked = wordsOf(query);
  const texts = items.map((item) => ({ item, words: new Set(wordsOf(textOf(item))) }));
  const meanLength = texts.reduce((sum, { words }) => sum + words.size, 0) / texts.length;
  const weights = new Map(
    asked.map((word) => [word, rarity(texts.filter(({ words }) => words.has(word)).length, texts.length)]),
  );
  return texts
    .flatMap(({ item, words }) => {
      const shared = asked.filter((word) => words.has(word));
      if (!shared.some(isTelling)) return [];
      const weight = shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
      return [{ item, score: weight * saturation(1, words.size / meanLength) }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ item }) => item);
}

/** The dash keeps the verb that a text begins with as the word that it is. */
function wordsOf(text: string): string[] {
  return tokens(`- ${text}`);
}
