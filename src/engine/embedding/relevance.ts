import { LRUCache } from 'lru-cache';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import type { RelevanceMethod } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import { FUSED_DEPTH, fused, mostRecent } from '../../memory/learnings/best-learnings.js';
import type { Learning, RankedLearning } from '../../memory/learnings/learnings-state.js';
import { LexicalIndex } from '../../memory/learnings/lexical-index.js';
import { type SearchLimits, VectorIndex } from '../../memory/learnings/vector-index.js';
import { LATE, withinDeadline } from '../../shared/backoff.js';
import type { Logger } from '../ports/clients.js';
import type { Embedder, VectorStore } from '../ports/vector-store.js';
import { limitedWarnings } from '../runtime/batched.js';

/**
 * Finds the learnings that are relevant to a query.
 *
 * - Lexical: BM25 over content and tags, without a minimum score. Always available.
 * - Semantic: cosine similarity of at least `minSimilarity`. Needs an embedder and the query's vector within `deadlineMs`;
 *   a late vector serves the next query. A learning without a vector is not found this way.
 *
 * The two rankings are fused. `method` names those that found something: `hybrid`, `semantic`, `lexical`, or `recency` if
 * neither did. Two answers to one question differ only if `method` does, or if a learning got its vector in between.
 */
export interface RelevanceOptions {
  readonly vectors: VectorStore;
  /** Without one there is no semantic search. */
  readonly embedder: Embedder | undefined;
  readonly logger: Logger;
  /** Longest wait for vectors per query, in milliseconds. Default: 150. */
  readonly deadlineMs?: number;
  /** Cached vectors of queries. Default: 500. */
  readonly cacheSize?: number;
  readonly maxProjects?: number;
  /** Monotonic clock in milliseconds, for the rate of warnings. Default: `performance.now`. */
  readonly now?: () => number;
}

export interface Relevant {
  readonly method: RelevanceMethod;
  /** Best first. */
  readonly ranked: RankedLearning[];
}

export interface Relevance {
  /**
   * Returns the most relevant of a project's active learnings. Never rejects.
   *
   * @param query only its first 2,000 characters are used
   */
  find(
    project: Token,
    learnings: ReadonlyMap<string, Learning>,
    query: string,
    limits: SearchLimits,
  ): Promise<Relevant>;

  /** Returns the vector of a text; `undefined` without an embedder, or if it is late. Never rejects. */
  vectorOf(query: string): Promise<Float32Array | undefined>;

  /** Absent without an embedder. */
  readonly model: string | undefined;

  /**
   * Calls `listener` for each query vector whose dimension no learning's vector has: the model was replaced under its name.
   */
  onExchanged(listener: (project: Token, dimension: number) => void): void;

  stop(): Promise<void>;
}

/** In characters: a small model cannot read more, and a search does not need more. */
const MAX_QUERY = 2000;

type Learnings = ReadonlyMap<string, Learning>;

interface Project {
  readonly lexical: LexicalIndex;
  readonly semantic: VectorIndex;
  /** The learnings that `semantic` was last synchronised with. */
  semanticOf: Learnings | undefined;
  lexicalOf: Learnings | undefined;
  /** Cursor into the stored vectors. */
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

  /** Reads the new vectors. If that fails, the known ones are used. */
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

  /** Returns the query's vector, or `undefined` if there is nothing to compare it with. */
  async function queryVector(name: Token, project: Project, query: string) {
    await refresh(name, project);
    const { semantic } = project;
    return semantic.usable ? queries?.get(query, ({ length }) => semantic.covers(length)) : undefined;
  }

  /** Returns a vector, or `undefined` if it is late or cannot be had. */
  async function inTime(work: Promise<Float32Array | undefined>, fields: object) {
    try {
      const vector = await withinDeadline(deadlineMs, work);
      if (vector !== LATE) return vector;
      warn({ ...fields, code: 'unavailable', deadlineMs }, 'query vector timed out: words decide');
    } catch (error) {
      warn({ ...fields, code: codeOf(error), err: error }, 'query not embedded: words decide');
    }
    return undefined;
  }

  return {
    async find(name, learnings, text, limits) {
      const query = text.slice(0, MAX_QUERY).toWellFormed();
      const project = opened(name);
      let byMeaning: RankedLearning[] = [];
      if (queries !== undefined && query.trim() !== '' && learnings.size > 0) {
        if (project.semanticOf !== learnings) bring(project, learnings);
        const vector = await inTime(queryVector(name, project, query), { project: name });
        // A concurrent query may have synchronised the index with other learnings.
        if (project.semanticOf !== learnings) bring(project, learnings);
        if (vector !== undefined) {
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

    model: embedder?.model,

    async vectorOf(text) {
      const query = text.slice(0, MAX_QUERY).toWellFormed();
      if (queries === undefined || query.trim() === '') return undefined;
      return inTime(
        queries.get(query, () => true),
        {},
      );
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

/** Concurrent embeddings: bounds the requests that pile up on an endpoint that hangs. */
const MAX_IN_FLIGHT = 8;

/** A cache of query vectors that coalesces concurrent requests for the same text. */
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
   * Returns the vector of a text, and caches it even if the caller no longer waits.
   *
   * @param fits returns true if a cached vector is still usable: a model may have been replaced under its name
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
      throw new ThroughlineError('unavailable', `${this.#embedder.model} returned no vector`);
    this.#cache.set(text, vector);
    return vector;
  }
}
