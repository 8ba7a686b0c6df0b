import { insertSorted } from '../../shared/collections.js';
import { recordOf } from '../../shared/text.js';
import type { PastResults, PastRow } from './past-results.js';
import { endOf, FILE_CLASSES, queryPaths } from './path-table.js';
import { MAX_QUERY, MAX_TOKENS, plainWords, queryTokens, rarity } from './tokens.js';

/**
 * Predicts the files that a task will touch, from past results.
 *
 * A file's score is a weighted sum: similarity of the results that touched it, match of its path with the words,
 * mention by the task, recency, and its class. The weights are fitted on the histories of nine projects; see
 * docs/contributing/benchmarks.md for quality figures and their
 * measurement.
 */
export interface FileQuery {
  readonly text: string;
  readonly maxFiles: number;
  readonly explain?: boolean | undefined;
}

export interface LikelyFile {
  readonly path: string;
  /** 0 to 1: about the share of such files that a task then touched. */
  readonly score: number;
  readonly uses: number;
  /** Supporting tasks: of similar results first, else the last that touched it. */
  readonly tasks: readonly string[];
  readonly why: string;
  readonly reasons?: FileReasons;
}

/** A file at least this likely gets a line of its own; one that is only perhaps touched shares a line. */
export const LIKELY = 0.5;
export const PERHAPS = 0.15;
/** A file at least this likely leads to facts about it. */
export const LEADING = 0.3;
/** Tasks at least this similar, relative to the most similar one, are counted as evidence. */
const CLOSE = 0.5;
const MAX_CLOSE = 5;

const WEIGHTS = {
  similar: 4.56,
  path: 0.3,
  named: 1.27,
  recency: 0.2,
  uses: 0.29,
  class: 0.084,
  namedPath: 2.8,
} as const;

/** Below this likeness the most similar result shares hardly more than a chance word. */
const SURE = 0.25;

/** The sum at which half of the files were touched: fitted on the same histories. */
const EVEN = 3.97;

const MAX_TASKS = 3;
const CLASS_PRIOR = 4;
const MAX_CLASS = 6;

const EVIDENCE = ['similar', 'path', 'named'] as const;
type Evidence = (typeof EVIDENCE)[number];

/** The contribution of each reason to the raw score: evidence, recency, number of uses and class. */
type FileReasons = Readonly<Record<string, number>>;

interface SimilarTask {
  readonly task: string;
  readonly similarity: number;
  readonly files: readonly string[];
}

interface Recalled {
  /** Best first, then by path. Empty without evidence from words, similar results or names. */
  readonly files: readonly LikelyFile[];
  readonly similar: readonly SimilarTask[];
}

export function recall(past: PastResults, query: FileQuery): Recalled {
  const { text } = query;
  const words = queryTokens(text);
  if (past.fileCount === 0 || words.length === 0) return { files: [], similar: [] };
  const { similar, touched } = similarResults(past, words);
  const scores = new Scores(past, query.explain === true);
  addSimilar(scores, similar);
  addPaths(scores, words);
  addNames(scores, text);
  addNamedPaths(scores, text);
  const classes = classScores(past, touched);
  const best = scores.best(query.maxFiles, classes);
  const tasks = tasksOf(past, similar, best);
  const close = new Map<string, Set<number>>();
  for (const { row, similarity } of similar) {
    if (similarity < CLOSE * (similar[0]?.similarity ?? 0)) break;
    const touchedFiles = close.get(row.task) ?? new Set();
    if (close.size < MAX_CLOSE || close.has(row.task)) close.set(row.task, touchedFiles);
    for (const file of row.files) touchedFiles.add(file);
  }
  const files = best.map(({ id, score }) => {
    const path = past.paths.paths[id] ?? '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    const touching = [...close.values()].filter((files) => files.has(id)).length;
    return {
      path,
      why: name.includes('.') && text.includes(name) ? 'the task names it' : whyLikely(touching, close.size),
      score: 1 / (1 + Math.exp(EVEN - score)),
      uses: past.uses[id] ?? 0,
      tasks: tasks.get(id) ?? [],
      ...(query.explain === true && { reasons: scores.reasonsOf(id, classes) }),
    };
  });
  return { files, similar: byTask(past, similar) };
}

function byTask(past: PastResults, similar: readonly SimilarResult[]): SimilarTask[] {
  const found = new Map<string, { readonly similarity: number; readonly files: Set<string> }>();
  for (const { row, similarity } of similar) {
    const known = found.get(row.task) ?? { similarity, files: new Set<string>() };
    found.set(row.task, known);
    for (const file of row.files) known.files.add(past.paths.paths[file] ?? '');
  }
  return [...found].map(([task, { similarity, files }]) => ({ task, similarity, files: [...files] }));
}

function whyLikely(touched: number, similar: number): string {
  if (touched === 0) return 'fits the words of the task';
  if (similar === 1) return 'the most similar task touched it';
  return `${touched} of ${similar} similar tasks touched it`;
}

interface ScoredFile {
  readonly id: number;
  readonly score: number;
}

/** Accumulates the query's evidence per file; general evidence is added at the end. */
class Scores {
  readonly past: PastResults;
  /** By path number: the sum of all evidence, and each reason's part. */
  readonly #sums: Float64Array;
  readonly #parts: Readonly<Record<Evidence, Float64Array>> | undefined;

  /** @param isExplained true to know each reason's part */
  constructor(past: PastResults, isExplained: boolean) {
    this.past = past;
    this.#sums = new Float64Array(past.uses.length);
    this.#parts = isExplained ? recordOf(EVIDENCE, () => new Float64Array(past.uses.length)) : undefined;
  }

  add(id: number, score: number, reason: Evidence): void {
    if ((this.past.uses[id] ?? 0) === 0) return;
    this.#sums[id] = (this.#sums[id] ?? 0) + score;
    const part = this.#parts?.[reason];
    if (part !== undefined) part[id] = (part[id] ?? 0) + score;
  }

  reasonsOf(id: number, classes: readonly number[]): FileReasons {
    const general = { recency: this.#recency(id), uses: this.#uses(id), class: this.#class(id, classes) };
    const all = { ...recordOf(EVIDENCE, (reason) => this.#parts?.[reason][id] ?? 0), ...general };
    const rounded = Object.entries(all).map(([reason, score]) => [reason, Math.round(score * 100) / 100]);
    return Object.fromEntries(rounded.filter(([, score]) => score !== 0));
  }

  #recency(id: number): number {
    return -WEIGHTS.recency * Math.log(1 + this.past.total - (this.past.last[id] ?? 0));
  }

  #uses(id: number): number {
    return WEIGHTS.uses * Math.log(this.past.uses[id] ?? 1);
  }

  #class(id: number, classes: readonly number[]): number {
    return classes[this.past.paths.classes[id] ?? 0] ?? 0;
  }

  /** Returns the best files that the query's evidence supports: being new does not count. */
  best(most: number, classes: readonly number[]): ScoredFile[] {
    const { paths } = this.past.paths;
    const isBefore = ({ id, score }: ScoredFile, other: ScoredFile) =>
      score === other.score ? (paths[id] ?? '') < (paths[other.id] ?? '') : score > other.score;
    const best: ScoredFile[] = [];
    for (let id = 0; id < this.#sums.length; id += 1) {
      const sum = this.#sums[id] ?? 0;
      if (sum <= 0) continue;
      const score = sum + this.#class(id, classes) + this.#recency(id) + this.#uses(id);
      insertSorted(best, { id, score }, most, isBefore);
    }
    return best;
  }
}

function addSimilar(scores: Scores, similar: readonly SimilarResult[]): void {
  const sum = similar.reduce((total, { similarity }) => total + similarity ** 2, 0);
  const weight = (WEIGHTS.similar * Math.min(1, (similar[0]?.likeness ?? 0) / SURE)) / sum;
  for (const { row, similarity } of similar)
    for (const file of row.files) scores.add(file, weight * similarity ** 2, 'similar');
}

function addPaths(scores: Scores, words: readonly string[]): void {
  const { past } = scores;
  const { weights } = past.paths;
  for (const token of words) {
    const found = knownOf(past, past.paths.withToken(token));
    const weight = WEIGHTS.path * rarity(found.length, past.fileCount);
    for (const id of found) scores.add(id, weight * (weights[id] ?? 0), 'path');
  }
}

function addNames(scores: Scores, text: string): void {
  const { past } = scores;
  const words = plainWords(text.slice(0, MAX_QUERY), MAX_TOKENS);
  const names = new Set<string>();
  for (const [at, word] of words.entries()) {
    const [next = '', third = ''] = words.slice(at + 1, at + 3);
    for (const name of [word, word + next, word + next + third]) if (name.length > 1) names.add(name);
  }
  for (const name of names) {
    const found = knownOf(past, past.paths.withName(name));
    const weight = (WEIGHTS.named * rarity(found.length, past.fileCount)) / Math.log(past.fileCount + 1);
    for (const id of found) scores.add(id, weight, 'named');
  }
}

function addNamedPaths(scores: Scores, text: string): void {
  for (const id of namedFiles(scores.past, text)) scores.add(id, WEIGHTS.namedPath, 'named');
}

/** Returns the numbers of the known paths that a text names. */
export function namedFiles(past: PastResults, text: string): ReadonlySet<number> {
  const isKnown = (path: string) => (past.uses[past.paths.idOf(path) ?? -1] ?? 0) > 0;
  return new Set(queryPaths(text).flatMap((word) => past.paths.idOf(endOf(word, isKnown) ?? '') ?? []));
}

function knownOf(past: PastResults, ids: readonly number[]): readonly number[] {
  return ids.filter((id) => (past.uses[id] ?? 0) > 0);
}

/** Returns the log odds by class of file that results with the query's words touched one, relative to all results. */
function classScores({ rows }: PastResults, { ofAll, ofWords }: TouchedClasses): number[] {
  return ofAll.map((all, index) => {
    const prior = (all + 0.5) / (rows.length + 1);
    let sum = 0;
    for (const { classes, holders } of ofWords) {
      const hits = classes[index] ?? 0;
      sum += logOdds((hits + CLASS_PRIOR * prior) / (holders + CLASS_PRIOR)) - logOdds(prior);
    }
    return WEIGHTS.class * Math.max(-MAX_CLASS, Math.min(MAX_CLASS, sum));
  });
}

function logOdds(share: number): number {
  return Math.log(share / (1 - share));
}

/** By file: tasks of the most similar results that touched it, else the last one. */
function tasksOf(
  { rows, last, total }: PastResults,
  similar: readonly SimilarResult[],
  files: readonly ScoredFile[],
): Map<number, string[]> {
  const tasks = new Map<number, string[]>(files.map(({ id }) => [id, []]));
  for (const { row } of similar)
    for (const file of row.files) {
      const known = tasks.get(file);
      if (known === undefined || known.length >= MAX_TASKS || known.includes(row.task)) continue;
      known.push(row.task);
    }
  for (const [file, known] of tasks) {
    const row = rows[rows.length - 1 - (total - (last[file] ?? 0))];
    if (known.length === 0 && row !== undefined) known.push(row.task);
  }
  return tasks;
}

interface SimilarResult {
  readonly row: PastRow;
  readonly similarity: number;
  /** The same, whatever its age. */
  readonly likeness: number;
}

/** Numbers of past results by the class of files that they touched, in the order of `FILE_CLASSES`. */
interface TouchedClasses {
  readonly ofAll: readonly number[];
  /** By known query word: results that contain it, and their number. */
  readonly ofWords: readonly { readonly classes: readonly number[]; readonly holders: number }[];
}

const SIMILAR = 20;
/** Number of newer results that halves the weight of a result. */
const HALF_LIFE = 600;

/** Finds the results most similar to a query, best first, then newest, and the classes of files touched with its words. */
export function similarResults(past: PastResults, queryTokens: readonly string[]) {
  const { rows, holders } = past;
  const { classes } = past.paths;
  const { weights, places, queryWeights, queryWeight, words } = weighed(past, queryTokens);
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
      common += queryWeights[place] as number;
      count[place] = (count[place] as number) + 1;
    }
    if (common === 0) continue;
    const likeness = common / Math.sqrt(queryWeight * weight);
    const similarity = likeness * 0.5 ** ((rows.length - index) / HALF_LIFE);
    // A newer one of the same similarity comes first.
    insertSorted(
      similar,
      { row, similarity, likeness },
      SIMILAR,
      (one, other) => one.similarity >= other.similarity,
    );
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
  const queryWeights = [0];
  let queryWeight = 0;
  for (const token of queryTokens) {
    const word = past.wordOf(token);
    const weight = weightOf(word === undefined ? 0 : (holders[word] ?? 0));
    queryWeight += weight;
    if (word === undefined) continue;
    places[word] = words.push(word);
    queryWeights.push(weight);
  }
  return { weights, places, words, queryWeights, queryWeight };
}
