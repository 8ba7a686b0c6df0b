import type { Token } from '../../contracts/names.js';

/**
 * Keeps the vectors of a project's learnings beside their events: what can be computed again, at a price.
 *
 * An implementer must give back vectors bit for bit. Losing one costs time only.
 */
export interface VectorStore {
  /**
   * Writes the vector of one learning, in place of an earlier one.
   *
   * @throws ThroughlineError `unavailable` when the store cannot be reached
   */
  put(project: Token, learning: Token, vector: StoredVector): Promise<void>;

  /**
   * Vectors written after `after`, oldest first, only the newest of each learning; 0 gives all. Values that are not
   * vectors are left out.
   *
   * @throws ThroughlineError `unavailable` when the store cannot be reached
   */
  read(project: Token, after: number): Promise<VectorsRead>;

  /**
   * Names the store as it is now: another name once everything in it was lost, `undefined` while there is none. What is
   * written after a loss still comes after all that was read before it.
   *
   * @throws ThroughlineError `unavailable` when the store cannot be reached
   */
  epoch(): Promise<string | undefined>;
}

export interface StoredVector {
  readonly model: string;
  /** The text that it stands for: a vector of another text is out of date. */
  readonly text: string;
  /** Its length is the dimension. */
  readonly vector: Float32Array;
}

export interface VectorsRead {
  readonly vectors: readonly (StoredVector & { readonly learning: Token })[];
  /** Pass it as the next `after`. */
  readonly through: number;
}

/**
 * Turns texts into vectors, so that texts of like meaning lie close together.
 *
 * An implementer must give one vector for each text, in their order, all of one length and none of it zero or not a
 * number; must keep to the deadline that the signal brings; and must throw rather than answer with something else.
 */
export interface Embedder {
  /** Names model and provider, so that vectors of another one are told apart. */
  readonly model: string;

  /**
   * Embeds texts: at least one, none empty.
   *
   * @param signal ends the attempt when it fires
   * @throws ThroughlineError `unavailable` when it gets no vectors, even after retries;
   *   `config_invalid` when it is set up wrongly, as with a key that is refused
   * @throws TextsRefusedError when it refused these texts, and would refuse them again
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;

  close(): Promise<void>;
}
