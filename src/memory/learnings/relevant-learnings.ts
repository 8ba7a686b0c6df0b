import type { RelevanceMethod } from '../../contracts/learning-events.js';
import { closenessTo, type WordVectors } from '../search/word-vectors.js';
import { BestLearnings, FUSED_DEPTH, fused, mostRecent } from './best-learnings.js';
import type { Learning, RankedLearning } from './learnings-state.js';
import { lexicalSearch } from './lexical-index.js';

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
 * - Lexical: BM25 over content and tags, without a minimum score.
 * - Semantic: cosine similarity of at least `minSimilarity`. It needs a query whose language the word vectors know.
 *
 * The two rankings are fused. `method` names those that found something: `hybrid`, `semantic`, `lexical`, or `recency` if
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
  if (method === 'recency') return { method, ranked: mostRecent(learnings, maxResults) };
  return { method, ...vectors, ranked: fused(byWords, byMeaning, maxResults) };
}

function nearest(
  words: WordVectors | undefined,
  learnings: ActiveLearnings,
  query: string,
  minSimilarity: number,
): RankedLearning[] {
  const best = new BestLearnings(FUSED_DEPTH);
  const closeness = closenessTo(words, query);
  if (closeness === undefined) return [];
  for (const learning of learnings.values()) {
    const similarity = closeness(learning.content);
    if (similarity > 0 && similarity >= minSimilarity) best.add(learning, Math.min(1, similarity));
  }
  return best.ranked;
}

function methodOf({ length: byWords }: RankedLearning[], { length: byMeaning }: RankedLearning[]) {
  if (byMeaning > 0) return byWords > 0 ? 'hybrid' : 'semantic';
  return byWords > 0 ? 'lexical' : 'recency';
}
