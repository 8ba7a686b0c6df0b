import { TextsRefusedError } from '../../contracts/errors.js';
import type { Embedder } from '../ports/vector-store.js';

/** Texts that one search tries, one by one, to find one that the embedder accepts. */
const PROBES = 8;

/** Embeds texts of which the embedder may refuse some. Halving the batch finds these. */
export class TolerantEmbedder {
  readonly #embedder: Embedder;
  /** A text that the embedder accepted before: if it is refused now, all may be, and no text is at fault. */
  #taken: string | undefined;
  /** Texts that were tried in vain. */
  #tried = 0;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /**
   * Finds a text that the embedder accepts, where none is known.
   *
   * @returns its vector, if one was looked for
   * @throws what the embedder throws where it refuses all that are tried; the next call tries others
   */
  async probe(texts: readonly string[], signal: AbortSignal): Promise<Float32Array | undefined> {
    if (this.#taken !== undefined || texts.length === 0) return undefined;
    const from = this.#tried % texts.length;
    let refusal: unknown;
    for (const text of [...texts.slice(from), ...texts.slice(0, from)].slice(0, PROBES)) {
      try {
        const [vector] = await this.#embedder.embed([text], signal);
        this.#taken = text;
        return vector;
      } catch (error) {
        if (!(error instanceof TextsRefusedError)) throw error;
        this.#tried += 1;
        refusal = error;
      }
    }
    throw refusal;
  }

  /**
   * @returns for each text its vector, or why it has none
   * @throws what the embedder throws where it gives no vectors at all
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | TextsRefusedError)[]> {
    try {
      return await this.#embedder.embed(texts, signal);
    } catch (error) {
      if (!(error instanceof TextsRefusedError)) throw error;
      await this.#confirm(error, signal);
    }
    if (texts.length === 1) return this.#again(texts, signal);
    const middle = Math.ceil(texts.length / 2);
    const first = await this.embed(texts.slice(0, middle), signal);
    return [...first, ...(await this.embed(texts.slice(middle), signal))];
  }

  /**
   * Throws unless the text that was accepted before is still accepted; if it is refused, `probe` looks for another one.
   */
  async #confirm(refusal: TextsRefusedError, signal: AbortSignal): Promise<void> {
    if (this.#taken === undefined) throw refusal;
    try {
      await this.#embedder.embed([this.#taken], signal);
    } catch (error) {
      if (error instanceof TextsRefusedError) this.#taken = undefined;
      throw error;
    }
  }

  /** A refusal that hit everything for a moment is not the text's fault. */
  async #again(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | TextsRefusedError)[]> {
    try {
      return await this.#embedder.embed(texts, signal);
    } catch (error) {
      if (!(error instanceof TextsRefusedError)) throw error;
      return [error];
    }
  }
}
