import type { Token } from '../../contracts/names.js';

/**
 * Stores the vectors of a project's learnings. Losing one costs time only.
 *
 * An implementer must return vectors bit for bit.
 */
export interface VectorStore {
  /** Stores or replaces the vector of one learning. Throws ThroughlineError `unavailable` if the store cannot be reached. */
  put(project: Token, learning: Token, vector: StoredVector): Promise<void>;

  /**
   * Returns vectors written after the cursor `after`, oldest first, only the newest of each learning; 0 returns all. Skips
   * invalid values.
   *
   * @throws ThroughlineError `unavailable` if the store cannot be reached
   */
  read(project: Token, after: number): Promise<VectorsRead>;

  /**
   * Identifies the store: changes when its contents are lost; `undefined` while it does not exist. Cursors increase across a
   * loss.
   *
   * @throws ThroughlineError `unavailable` if the store cannot be reached
   */
  epoch(): Promise<string | undefined>;
}

export interface StoredVector {
  readonly model: string;
  /** The embedded text: the vector is stale if the learning's text differs. */
  readonly text: string;
  readonly vector: Float32Array;
}

export interface VectorsRead {
  readonly vectors: readonly (StoredVector & { readonly learning: Token })[];
  /** Pass it as the next `after`. */
  readonly through: number;
}

/**
 * Turns texts into vectors of similar direction for similar meaning.
 *
 * An implementer must return one vector per text, in order, all of equal length and none zero or not finite; must observe the
 * signal's deadline; and must throw rather than return anything else.
 */
export interface Embedder {
  /** Identifies model and provider, so that vectors of another one are told apart. */
  readonly model: string;

  /**
   * Embeds texts: at least one, none empty.
   *
   * @throws ThroughlineError `unavailable` without vectors even after retries; `config_invalid` for a wrong setup, such as a
   *   refused key
   * @throws TextsRefusedError if it refused these texts and would refuse them again
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  close(): Promise<void>;
}
