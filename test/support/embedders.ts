import type { Embedder } from '../../src/engine/ports/vector-store.js';
import { bagVector } from './embedding-server.js';

/** An embedder in the process whose answers a test decides. */
export interface ScriptedEmbedder extends Embedder {
  /** The texts of each call. */
  readonly calls: (readonly string[])[];
  dimension: number;
  /** Called before each answer: throw to fail, wait to be late. */
  before: (texts: readonly string[], signal: AbortSignal | undefined) => Promise<void>;
}

export function scriptedEmbedder(model = 'bag', dimension = 64): ScriptedEmbedder {
  const embedder: ScriptedEmbedder = {
    model,
    dimension,
    calls: [],
    before: async () => {},
    async embed(texts, signal) {
      embedder.calls.push(texts);
      await embedder.before(texts, signal);
      return texts.map((text) => bagVector(text, embedder.dimension));
    },
    async close() {},
  };
  return embedder;
}
