import { insertSorted } from '../../shared/collections.js';
import type { PastResults, PastRow } from './past-results.js';
import { FILE_CLASSES } from './path-table.js';
import { rarity } from './word-index.js';

/** A past result with its similarity, 0 to 1. */
export interface SimilarResult {
  readonly row: PastRow;
  readonly similarity: number;
}

/** Numbers of past results by the class of files that they touched, in the order of `FILE_CLASSES`. */
export interface TouchedClasses {
  readonly ofAll: readonly number[];
  /** By known query word: results that contain it, and their number. */
  readonly ofWords: readonly { readonly classes: readonly number[]; readonly holders: number }[];
}

const SIMILAR = 20;
/** Number of newer results that halves the weight of a result. */
const HALF_LIFE = 600;

/**
 * Finds the results most similar to a query, best first, then newest, and the classes of files that results with its
 * words touched. One pass over all results and words serves both.
 */
export function similarResults(past: PastResults, queryTokens: readonly string[]) {
  const { rows, holders } = past;
  const { classes } = past.paths;
  const { weights, places, askedWeights, askedWeight, words } = weighed(past, queryTokens);
  const similar: SimilarResult[] = [];
  /** By the bit mask of touched classes: number of results, then of those with each word. */
  const counts = new Map<number, Uint32Array>();
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index] as PastRow;
    const { tokens: rowTokens, files } = row;
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
    for (let at = 0; at < rowTokens.length; at += 1) {
      const word = rowTokens[at] as number;
      weight += weights[word] as number;
      const place = places[word] as number;
      if (place === 0) continue;
      common += askedWeights[place] as number;
      count[place] = (count[place] as number) + 1;
    }
    if (common === 0) continue;
    const likeness = common / Math.sqrt(askedWeight * weight);
    const similarity = likeness * 0.5 ** ((rows.length - index) / HALF_LIFE);
    // A newer one of the same similarity comes first.
    insertSorted(similar, { row, similarity }, SIMILAR, (one, other) => one.similarity >= other.similarity);
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

/** Computes word weights once, since each word occurs in many results. */
function weighed(past: PastResults, queryTokens: readonly string[]) {
  const { rows, holders } = past;
  // Cached by number of holders: the logarithm dominates.
  const squares: number[] = [];
  const weightOf = (count: number) => {
    const square = squares[count] ?? rarity(count, rows.length) ** 2;
    squares[count] = square;
    return square;
  };
  const weights = new Float64Array(holders.length);
  for (let word = 0; word < holders.length; word += 1) weights[word] = weightOf(holders[word] ?? 0);
  /** By word number: the word's position in the query from 1, 0 for others. */
  const places = new Int32Array(holders.length);
  const words: number[] = [];
  const askedWeights = [0];
  let askedWeight = 0;
  for (const token of queryTokens) {
    const word = past.wordOf(token);
    const weight = weightOf(word === undefined ? 0 : (holders[word] ?? 0));
    askedWeight += weight;
    if (word === undefined) continue;
    places[word] = words.push(word);
    askedWeights.push(weight);
  }
  return { weights, places, words, askedWeights, askedWeight };
}
