import { LRUCache } from 'lru-cache';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import { FUSED_DEPTH, fused, mostRecent } from '../../memory/learnings/best-learnings.js';
import type { Learning, RankedLearning, RelevanceMethod } from '../../memory/learnings/learnings-state.js';
import { LexicalIndex } from '../../memory/learnings/lexical-index.js';
import { type SearchLimits, VectorIndex } from '../../memory/learnings/vector-index.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';
import type { Logger } from '../ports/logger.js';
import type { Embedder, VectorStore } from '../ports/vector-store.js';
import { limitedWarnings } from '../runtime/limited-warnings.js';

/**
 * Finds the learnings that matter for a query: by words, by meaning as well if that answers in time, else the newest.
 *
 * - by words: BM25 over content and tags, without a least score. It always answers.
 * - by meaning: cosine of vectors, at least `minSimilarity`. It needs an embedder, vectors of its model and the query's
 *   vector, all within `deadlineMs`; what comes later serves the next query. A learning that has no vector yet is not
 *   found this way.
 *
 * What either finds counts, by its ranks. `method` says which of them found anything: `hybrid` for both, `semantic`,
 * `lexical`, or `recency` where neither did. Where it is `lexical`, vectors had no part in the answer, late or not: two
 * answers to one question differ only where `method` does, or where a learning got its vector in between.
 */
export interface RelevanceOptions {
  readonly vectors: VectorStore;
  /** Without one there is no semantic answer. */
  readonly embedder: Embedder | undefined;
  readonly logger: Logger;
  /** Longest time that a query waits for vectors, in milliseconds. Default: 150. */
  readonly deadlineMs?: number;
  /** Vectors of queries that are kept. Default: 500. */
  readonly cacheSize?: number;
  /** Projects whose indexes are kept. Default: 100. */
  readonly maxProjects?: number;
  /** Milliseconds on a clock that never goes back, for the rate of warnings. Default: `performance.now`. */
  readonly now?: () => number;
}

export interface Relevant {
  readonly method: RelevanceMethod;
  /** Best first. */
  readonly ranked: RankedLearning[];
}

export interface Relevance {
  /**
   * The most relevant of a project's active learnings. Does not fail: neither embedder nor vectors are needed.
   *
   * @param query only its first 2,000 characters count
   */
  find(
    project: Token,
    learnings: ReadonlyMap<string, Learning>,
    query: string,
    limits: SearchLimits,
  ): Promise<Relevant>;

  /**
   * Calls `listener` for each query whose vector has a dimension that no learning's vector has: a model was replaced
   * under its name, and its vectors are out of step.
   */
  onExchanged(listener: (project: Token, dimension: number) => void): void;

  /** Ends what is under way. */
  stop(): Promise<void>;
}

/** As much as a small model can read, and more words than a search needs. */
const MAX_QUERY = 2000;

type Learnings = ReadonlyMap<string, Learning>;

interface Project {
  readonly lexical: LexicalIndex;
  readonly semantic: VectorIndex;
  /** The learnings that `semantic` was brought to last. */
  semanticOf: Learnings | undefined;
  lexicalOf: Learnings | undefined;
  /** How far the stored vectors have been read. */
  through: number;
  reading: Promise<void> | undefined;
}

export function createRelevance(options: RelevanceOptions): Relevance {
  const { vectors, embedder, logger } = options;
  const { deadlineMs = 150, cacheSize = 500, maxProjects = 100, now = () => performance.now() } = options;
  const projects = new LRUCache<Token, Project>({ max: maxProjects });
  const queries = embedder && new QueryVectors(embedder, cacheSize);
  const warn = limitedWarnings(logger, now);
  const listeners: ((project: Token, dimension: number) => void)[] = [];

  function opened(project: Token): Project {
    const kept = projects.get(project);
    if (kept !== undefined) return kept;
    const semantic = new VectorIndex(embedder?.model ?? '');
    const empty = { semanticOf: undefined, lexicalOf: undefined, through: 0, reading: undefined };
    const fresh: Project = { lexical: new LexicalIndex(), semantic, ...empty };
    projects.set(project, fresh);
    return fresh;
  }

  /** Reads the vectors that are new. When they cannot be read, those that are known will do. */
  function refresh(name: Token, project: Project): Promise<void> {
    project.reading ??= vectors
      .read(name, project.through)
      .then((read) => {
        for (const vector of read.vectors) project.semantic.put(vector.learning, vector);
        project.through = read.through;
      })
      .catch((error: unknown) =>
        warn({ project: name, code: codeOf(error), err: error }, 'vectors of learnings cannot be read'),
      )
      .finally(() => {
        project.reading = undefined;
      });
    return project.reading;
  }

  function checkDimension(name: Token, { semantic }: Project, { length: dimension }: Float32Array): void {
    if (!semantic.usable || semantic.covers(dimension)) return;
    warn(
      { project: name, code: 'unavailable', dimension },
      'no learning has the dimension of the query vector: learnings are chosen by words',
    );
    for (const listener of listeners) listener(name, dimension);
  }

  /** The query's vector, unless there is nothing to compare it with or it is not available. */
  async function queryVector(
    name: Token,
    project: Project,
    query: string,
  ): Promise<Float32Array | undefined> {
    try {
      await refresh(name, project);
      const { semantic } = project;
      if (!semantic.usable) return undefined;
      return await queries?.get(query, ({ length }) => semantic.covers(length));
    } catch (error) {
      warn(
        { project: name, code: codeOf(error), err: error },
        'query not embedded: learnings are chosen by words',
      );
      return undefined;
    }
  }

  return {
    async find(name, learnings, text, limits) {
      const query = text.slice(0, MAX_QUERY).toWellFormed();
      const project = opened(name);
      let byMeaning: RankedLearning[] = [];
      if (queries !== undefined && query.trim() !== '' && learnings.size > 0) {
        if (project.semanticOf !== learnings) bring(project, learnings);
        const vector = await withinDeadline(deadlineMs, queryVector(name, project, query));
        if (vector === LATE)
          warn(
            { project: name, code: 'unavailable', deadlineMs },
            'query vector came too late: learnings are chosen by words',
          );
        // Another query may have brought the index to learnings of another time meanwhile.
        if (project.semanticOf !== learnings) bring(project, learnings);
        if (vector instanceof Float32Array) {
          byMeaning = project.semantic.search(vector, { ...limits, maxResults: FUSED_DEPTH });
          if (byMeaning.length === 0) checkDimension(name, project, vector);
        }
      }
      if (project.lexicalOf !== learnings) project.lexical.sync(learnings);
      project.lexicalOf = learnings;
      const byWords = project.lexical.search(query, FUSED_DEPTH);
      const method = methodOf(byWords, byMeaning);
      if (method === 'recency') return { method, ranked: mostRecent(learnings, limits.maxResults) };
      return { method, ranked: fused(byWords, byMeaning, limits.maxResults) };
    },

    onExchanged(listener) {
      listeners.push(listener);
    },

    async stop() {
      await queries?.stop();
    },
  };
}

function methodOf({ length: byWords }: RankedLearning[], { length: byMeaning }: RankedLearning[]) {
  if (byMeaning > 0) return byWords > 0 ? 'hybrid' : 'semantic';
  return byWords > 0 ? 'lexical' : 'recency';
}

function bring(project: Project, learnings: Learnings): void {
  project.semantic.sync(learnings);
  project.semanticOf = learnings;
}

/** Embeddings under way at a time: an endpoint that hangs must not gather requests without end. */
const MAX_IN_FLIGHT = 8;

/** The vectors of queries: each text is embedded once, however often and at whatever moment it is asked for. */
class QueryVectors {
  readonly #embedder: Embedder;
  readonly #cache: LRUCache<string, Float32Array>;
  readonly #running = new Map<string, Promise<Float32Array>>();
  readonly #stopping = new AbortController();

  constructor(embedder: Embedder, cacheSize: number) {
    this.#embedder = embedder;
    this.#cache = new LRUCache({ max: cacheSize });
  }

  /**
   * The vector of a text; it is kept even if its caller no longer waits for it.
   *
   * @param fits whether a kept vector is still usable: a model may have been replaced under its name
   */
  async get(text: string, fits: (vector: Float32Array) => boolean): Promise<Float32Array> {
    const cached = this.#cache.get(text);
    if (cached !== undefined && fits(cached)) return cached;
    const running = this.#running.get(text);
    if (running !== undefined) return running;
    if (this.#running.size >= MAX_IN_FLIGHT) {
      throw new ThroughlineError(
        'unavailable',
        `${this.#embedder.model} still has ${MAX_IN_FLIGHT} queries to answer`,
      );
    }
    const embedding = this.#embed(text).finally(() => this.#running.delete(text));
    this.#running.set(text, embedding);
    return embedding;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #embed(text: string): Promise<Float32Array> {
    const [vector] = await this.#embedder.embed([text], this.#stopping.signal);
    if (vector === undefined)
      throw new ThroughlineError('unavailable', `${this.#embedder.model} gave no vector`);
    this.#cache.set(text, vector);
    return vector;
  }
}
