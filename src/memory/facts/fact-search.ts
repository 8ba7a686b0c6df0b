import { addTo } from '../../shared/collections.js';
import { isTelling, queryTokens, tokens } from '../search/tokens.js';
import { type IndexedText, WordIndex } from '../search/word-index.js';
import type { FactIndex, IndexedFact } from './fact-index.js';

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

interface Candidate {
  readonly entry: IndexedFact;
  /** BM25 of its own words, and likeness by meaning. */
  own: number;
  readonly matched: string[];
  isFound: boolean;
}

/** A task as a text: the words of the query that its facts and their days have. */
interface TaskText extends IndexedText {
  /** In their order. */
  readonly facts: readonly Candidate[];
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
  const words = queryTokens(query);
  const candidates = new Map<IndexedFact, Candidate>();
  const counts = new Map<string, Map<string, number>>();
  const count = (task: string, word: string, times: number) => {
    const known = counts.get(task);
    known?.set(word, times + (known.get(word) ?? 0));
  };
  const byTask = new Map<string, Candidate[]>();
  for (const entry of index.byAge(false).newestFirst()) {
    const meaning = Math.max(0, closeness?.(entry.meant) ?? 0);
    const candidate = { entry, own: MEANING * meaning, matched: [], isFound: meaning >= NEAR };
    candidates.set(entry, candidate);
    addTo(byTask, entry.fact.sourceTaskId, candidate);
    counts.set(entry.fact.sourceTaskId, new Map());
  }
  index.text.search(words, (entry, score, word, times) => {
    const candidate = candidates.get(entry);
    if (candidate === undefined) return;
    candidate.own += score;
    candidate.matched.push(word);
    candidate.isFound ||= isTelling(word);
    count(entry.fact.sourceTaskId, word, times);
  });
  const tasks = new WordIndex<TaskText>();
  const asked = new Set(words);
  const scores = new Map<TaskText, number>();
  for (const [task, facts] of byTask) {
    for (const word of new Set(dayWords(facts))) if (asked.has(word)) count(task, word, 1);
    const has = counts.get(task) ?? new Map<string, number>();
    const length = facts.reduce((sum, { entry }) => sum + entry.length, 0);
    const text = { facts, slot: tasks.size, words: [...has.keys()], times: [...has.values()], length };
    tasks.add(text);
    scores.set(text, 0);
  }
  tasks.search(words, (task, score) => scores.set(task, score + (scores.get(task) ?? 0)));
  const found: SearchedFact[] = [];
  for (const [{ facts }, ofTask] of scores)
    for (const [at, { entry, own, matched, isFound }] of facts.entries()) {
      const beside = [facts[at - 1], facts[at + 1]].filter((other) => other !== undefined);
      if (!isFound && !beside.some((other) => other.isFound)) continue;
      const sum = own + NEIGHBOUR * Math.max(0, ...beside.map((other) => other.own)) + TASK * ofTask;
      found.push({ entry, score: sum / (1 + sum), matched });
    }
  return found.sort((a, b) => b.score - a.score || b.entry.fact.sourceSequence - a.entry.fact.sourceSequence);
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });

/** Returns the tokens of the days of facts: `May 8, 2023`. */
function dayWords(facts: readonly Candidate[]): string[] {
  const days = new Set(facts.map(({ entry }) => entry.fact.validFrom.slice(0, 10)));
  return [...days].flatMap((day) => tokens(`- ${DAY.format(Date.parse(day))}`));
}
