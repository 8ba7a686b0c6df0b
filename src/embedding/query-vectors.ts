import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../contracts/errors.js';
import type { Embedder } from '../ports/embedder.js';

/** Embeddings under way at a time: an endpoint that hangs must not gather requests without end. */
const MAX_IN_FLIGHT = 8;

/** The vectors of queries: each text is embedded once, however often and at whatever moment it is asked for. */
export class QueryVectors {
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
