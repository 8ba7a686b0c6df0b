import { TextsRefusedError } from '../../contracts/errors.js';
import type { Embedder } from '../ports/vector-store.js';

/** Texts that one probe tries, one by one. */
const PROBES = 8;

/** Isolates the texts that an embedder refuses, by halving the batch. */
export class TolerantEmbedder {
  readonly #embedder: Embedder;
  /** A text that the embedder accepted before: if it is refused now, the embedder is at fault and not a text. */
  #taken: string | undefined;
  #tried = 0;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /**
   * Looks for a text that the embedder accepts, if none is known.
   *
   * @returns its vector, if one was looked for
   * @throws the embedder's error if all texts of this probe are refused; the next call tries others
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
   * @returns for each text its vector, or the error that refused it
   * @throws the embedder's error if it returns no vectors at all
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

  /** Throws if the text that was accepted before is now refused; `probe` then looks for another one. */
  async #confirm(refusal: TextsRefusedError, signal: AbortSignal): Promise<void> {
    if (this.#taken === undefined) throw refusal;
    try {
      await this.#embedder.embed([this.#taken], signal);
    } catch (error) {
      if (error instanceof TextsRefusedError) this.#taken = undefined;
      throw error;
    }
  }

  /** Retries a single text: a momentary refusal of everything is not the text's fault. */
  async #again(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | TextsRefusedError)[]> {
    try {
      return await this.#embedder.embed(texts, signal);
    } catch (error) {
      if (!(error instanceof TextsRefusedError)) throw error;
      return [error];
    }
  }
}
