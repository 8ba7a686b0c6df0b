import { TextsRefusedError } from '../errors.js';
import type { Embedder } from '../ports/embedder.js';

/**
 * Embeds texts of which the embedder may refuse some: those are found by halving.
 *
 * @param taken a text that the embedder took before: where it is refused now, all is, and no text is at fault
 * @returns for each text its vector, or why it has none
 * @throws what the embedder throws where it gives no vectors at all
 */
export async function embedEach(
  embedder: Embedder,
  texts: readonly string[],
  taken: string,
  signal: AbortSignal,
): Promise<(Float32Array | TextsRefusedError)[]> {
  try {
    return await embedder.embed(texts, signal);
  } catch (error) {
    if (!(error instanceof TextsRefusedError)) throw error;
    await embedder.embed([taken], signal);
    if (texts.length === 1) return [error];
    const middle = Math.ceil(texts.length / 2);
    const first = await embedEach(embedder, texts.slice(0, middle), taken, signal);
    return [...first, ...(await embedEach(embedder, texts.slice(middle), taken, signal))];
  }
}
