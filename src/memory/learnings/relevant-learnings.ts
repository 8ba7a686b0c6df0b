import type { RelevanceMethod } from '../../contracts/learning-events.js';
import { onceForEach } from '../../shared/collections.js';
import { type IndexedText, isTelling, tokens, WordIndex } from '../search/tokens.js';
import { closenessTo, type WordVectors } from '../search/word-vectors.js';
import type { Learning, RankedLearning } from './learnings-state.js';

export type ActiveLearnings = ReadonlyMap<string, Learning>;

export interface SearchLimits {
  readonly maxResults: number;
  /** Minimum cosine, 0 to 1. */
  readonly minSimilarity: number;
}

export interface Relevant {
  readonly method: RelevanceMethod;
  /** Version of the word vectors, if meaning counted. */
  readonly vectors?: string;
  /** Best first. */
  readonly ranked: RankedLearning[];
}

/** In characters: a search does not need more. */
const MAX_QUERY = 2000;

/**
 * Finds the learnings that are relevant to a query.
 *
 * By words: BM25, without a minimum score. By meaning: cosine similarity of at least `minSimilarity`, if the word vectors
 * know the query's language. The two rankings are fused. `method` names those that found something: `hybrid`, `semantic`, `lexical`, or `recency` if
 * neither did. Depends only on the learnings, the query and the version of the word vectors.
 */
export function relevantLearnings(
  words: WordVectors | undefined,
  learnings: ActiveLearnings,
  text: string,
  { maxResults, minSimilarity }: SearchLimits,
): Relevant {
  const query = text.slice(0, MAX_QUERY).toWellFormed();
  const byWords = lexicalSearch(learnings, query, FUSED_DEPTH);
  const byMeaning = nearest(words, learnings, query, minSimilarity);
  const vectors = byMeaning.length > 0 && words !== undefined ? { vectors: words.version } : {};
  const method = methodOf(byWords, byMeaning);
  if (method !== 'recency') return { method, ...vectors, ranked: fused(byWords, byMeaning, maxResults) };
  const all = [...learnings.values()].map((learning) => ({ learning, score: 0 }));
  return { method, ranked: best(all, maxResults) };
}

function nearest(
  words: WordVectors | undefined,
  learnings: ActiveLearnings,
  query: string,
  minSimilarity: number,
): RankedLearning[] {
  const closeness = closenessTo(words, query);
  if (closeness === undefined) return [];
  const found: RankedLearning[] = [];
  for (const learning of learnings.values()) {
    const similarity = closeness(learning.content);
    if (similarity > 0 && similarity >= minSimilarity) found.push({ learning, score: similarity });
  }
  return best(found, FUSED_DEPTH);
}

function methodOf({ length: byWords }: RankedLearning[], { length: byMeaning }: RankedLearning[]) {
  if (byMeaning > 0) return byWords > 0 ? 'hybrid' : 'semantic';
  return byWords > 0 ? 'lexical' : 'recency';
}

/** Orders by score, then by the latest confirmation, then by id: independent of the input order. */
function best(found: readonly RankedLearning[], maxResults: number): RankedLearning[] {
  const sorted = found.toSorted(({ learning: a, score: one }, { learning: b, score: other }) => {
    return other - one || compare(b.confirmedAt, a.confirmedAt) || compare(a.id, b.id);
  });
  return sorted.slice(0, maxResults);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Ranks that count in each list. Constant, so that the best three of five are the best three of ten. */
const FUSED_DEPTH = 100;

/**
 * Fuses two rankings: the mean of 1/rank by words and 1/rank by meaning, with 0 for a missing one.
 *
 * Cosines and shares of words are not comparable, ranks are. The usual constant of rank fusion, 60, is for lists of
 * thousands: in a short list it ranks anything in both lists above the first of either. Without it, the best of one
 * list, such as a learning without a vector yet, is among the first three.
 */
export function fused(
  byWords: readonly RankedLearning[],
  byMeaning: readonly RankedLearning[],
  maxResults: number,
): RankedLearning[] {
  const scores = new Map<Learning, number>();
  for (const list of [byWords, byMeaning]) {
    for (const [index, { learning }] of list.entries()) {
      scores.set(learning, (scores.get(learning) ?? 0) + 0.5 / (index + 1));
    }
  }
  const found = [...scores].map(([learning, score]) => ({ learning, score }));
  return best(found, maxResults);
}

/**
 * Returns the learnings that share a distinctive word with the query, best first.
 * BM25 over the tokens of content and tags; tokens in both count twice. A learning that shares only common words such
 * as `use` or `all` does not match.
 * A score, 0 to 1, is the learning's share of the query's weight: the BM25 sum without its factor k1 + 1, divided by the
 * inverse document frequencies of all query words, including unknown ones.
 *
 * Not a library, because it must be exact and fast: MiniSearch keeps a running mean of lengths that drifts with the
 * order of changes, and took 19 ms for 60 words and 117 ms for 200 over 5,000 learnings; task prompts have as many.
 */
export function lexicalSearch(learnings: ActiveLearnings, query: string, maxResults: number) {
  const scores = new Map<IndexedLearning, number>();
  const fitting = new Set<IndexedLearning>();
  indexOf(learnings).search(wordsOf(query), (entry, score, word) => {
    scores.set(entry, score + (scores.get(entry) ?? 0));
    if (isTelling(word)) fitting.add(entry);
  });
  const found = [...fitting].map((entry) => ({ learning: entry.learning, score: scores.get(entry) ?? 0 }));
  return best(found, maxResults);
}

interface IndexedLearning extends IndexedText {
  readonly learning: Learning;
}

/** Cached for a version of the learnings, and the words of a learning for its life: learnings are immutable. */
const indexOf = onceForEach((learnings: ActiveLearnings) => {
  const index = new WordIndex<IndexedLearning>();
  for (const learning of learnings.values()) index.add({ ...indexed(learning), slot: index.size });
  return index;
});

const indexed = onceForEach((learning: Learning): Omit<IndexedLearning, 'slot'> => {
  const words = [...wordsOf(learning.content), ...wordsOf(learning.tags.join(' '))];
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, 1 + (counts.get(word) ?? 0));
  return { learning, words: [...counts.keys()], times: [...counts.values()], length: words.length };
});

/** The dash prevents a first word such as `Test` from being read as a verb. */
function wordsOf(text: string): string[] {
  return tokens(`- ${text}`);
}
