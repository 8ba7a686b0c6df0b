import { addTo } from '../../shared/collections.js';
import { rarity, saturation } from '../search/similar-results.js';
import { isTelling, tokens } from '../search/tokens.js';
import type { FactIndex, IndexedFact } from './fact-index.js';

/** A fact that a search found. */
export interface SearchedFact {
  readonly entry: IndexedFact;
  /** 0 to 1. */
  readonly score: number;
  /** Words of the query that it contains, as tokens. */
  readonly matched: readonly string[];
}

/**
 * Weights beside that of the words of a fact: its likeness by meaning, the better one of its neighbours in the order of the
 * task, and the words and days of the whole task.
 */
const MEANING = 0.7;
const NEIGHBOUR = 0.4;
const TASK = 0.7;
/** The least likeness that finds a fact without a common word. */
const NEAR = 0.3;
/** Limits of the query, in characters and tokens. */
const MAX_QUERY = 8000;
const MAX_TOKENS = 400;

/** A fact while it is searched. */
interface Candidate {
  readonly entry: IndexedFact;
  /** BM25 of its own words, and likeness by meaning. */
  own: number;
  readonly matched: string[];
  isFound: boolean;
}

/**
 * Finds the facts that fit a query, the best first, then the newest. BM25 counts the words of a fact and, less, those of its
 * whole task; meaning counts beside them. A fact beside a good one is better for it: questions stand beside their answers.
 *
 * @param closeness the likeness of the query and a text by meaning; absent: words alone decide
 */
export function searchFacts(
  index: FactIndex,
  query: string,
  closeness: ((text: string) => number) | undefined,
): SearchedFact[] {
  const tasks = new Map<string, Candidate[]>();
  const candidates = new Map<IndexedFact, Candidate>();
  for (const entry of index.byAge(false).newestFirst()) {
    const meaning = Math.max(0, closeness?.(entry.meant) ?? 0);
    const candidate = { entry, own: MEANING * meaning, matched: [], isFound: meaning >= NEAR };
    candidates.set(entry, candidate);
    addTo(tasks, entry.fact.sourceTaskId, candidate);
  }
  const ofTasks = addWords(index, tokens(query.slice(0, MAX_QUERY), MAX_TOKENS), candidates, tasks);
  const found: SearchedFact[] = [];
  for (const [task, inTask] of tasks) {
    const ofTask = TASK * (ofTasks.get(task) ?? 0);
    for (const [at, { entry, own, matched, isFound }] of inTask.entries()) {
      const beside = [inTask[at - 1], inTask[at + 1]].filter((other) => other !== undefined);
      if (!isFound && !beside.some((other) => other.isFound)) continue;
      const sum = own + NEIGHBOUR * Math.max(0, ...beside.map((other) => other.own)) + ofTask;
      found.push({ entry, score: sum / (1 + sum), matched });
    }
  }
  return found.sort((a, b) => b.score - a.score || b.entry.fact.sourceSequence - a.entry.fact.sourceSequence);
}

/** Adds the words of the query to the facts that have them; returns the share of the query's weight that each task has. */
function addWords(
  index: FactIndex,
  words: readonly string[],
  candidates: ReadonlyMap<IndexedFact, Candidate>,
  tasks: ReadonlyMap<string, readonly Candidate[]>,
): Map<string, number> {
  const lengths = new Map<string, number>();
  const days = new Map<string, string[]>();
  for (const [task, inTask] of tasks) {
    lengths.set(
      task,
      inTask.reduce((sum, { entry }) => sum + entry.words.length, 0),
    );
    for (const word of new Set(dayWords(inTask))) addTo(days, word, task);
  }
  const meanLength = [...lengths.values()].reduce((sum, length) => sum + length, 0) / tasks.size;
  const { text } = index;
  const weights = words.map((word) => rarity(text.of(word).entries.length, text.size));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const sums = new Map<string, number>();
  let wholeOfTasks = 0;
  for (const [place, word] of words.entries()) {
    const { entries, times } = text.of(word);
    const share = (weights[place] as number) / whole;
    const inTasks = new Map((days.get(word) ?? []).map((task) => [task, 1]));
    for (const [at, entry] of entries.entries()) {
      const candidate = candidates.get(entry);
      if (candidate === undefined) continue;
      const count = times[at] as number;
      candidate.own += share * saturation(count, entry.words.length / text.averageWords);
      candidate.matched.push(word);
      candidate.isFound ||= isTelling(word);
      const { sourceTaskId: task } = entry.fact;
      inTasks.set(task, count + (inTasks.get(task) ?? 0));
    }
    const weight = rarity(inTasks.size, tasks.size);
    wholeOfTasks += weight;
    for (const [task, count] of inTasks) {
      const more = weight * saturation(count, (lengths.get(task) ?? 0) / meanLength);
      sums.set(task, (sums.get(task) ?? 0) + more);
    }
  }
  return new Map([...sums].map(([task, sum]) => [task, sum / wholeOfTasks]));
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** Returns the tokens of the days of facts: `May 8, 2023`. */
function dayWords(facts: readonly Candidate[]): string[] {
  const days = new Set(facts.map(({ entry }) => entry.fact.validFrom.slice(0, 10)));
  return [...days].flatMap((day) => tokens(`- ${DAY.format(Date.parse(day))}`));
}
