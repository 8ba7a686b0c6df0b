import { LRUCache } from 'lru-cache';
import type { Token } from '../../contracts/names.js';
import { LexicalIndex } from '../../memory/learnings/lexical-index.js';
import {
  type ActiveLearnings,
  type Relevant,
  relevantLearnings,
  type SearchLimits,
} from '../../memory/learnings/relevant-learnings.js';
import type { WordVectorsLoader } from '../common/word-vectors-loader.js';

/** Finds the learnings of a project that are relevant to a query, by words and by meaning. */
export interface Relevance {
  find(project: Token, learnings: ActiveLearnings, query: string, limits: SearchLimits): Promise<Relevant>;
}

const MAX_PROJECTS = 100;

export function createRelevance(wordVectors: WordVectorsLoader): Relevance {
  const indexes = new LRUCache<Token, LexicalIndex>({ max: MAX_PROJECTS });
  return {
    async find(project, learnings, query, limits) {
      const words = await wordVectors();
      const index = indexes.get(project) ?? new LexicalIndex();
      indexes.set(project, index);
      return relevantLearnings({ index, words }, learnings, query, limits);
    },
  };
}
