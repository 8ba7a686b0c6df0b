import type { Token } from '../../src/contracts/names.js';
import type { StoredVector, VectorStore, VectorsRead } from '../../src/engine/ports/vector-store.js';

export class MemoryVectorStore implements VectorStore {
  /** Per project, in write order. */
  readonly #kept = new Map<Token, Map<Token, StoredVector & { readonly sequence: number }>>();
  #sequence = 0;

  async put(project: Token, learning: Token, { model, text, vector }: StoredVector): Promise<void> {
    const kept = this.#kept.get(project) ?? new Map();
    this.#kept.set(project, kept);
    this.#sequence += 1;
    kept.delete(learning);
    kept.set(learning, { model, text, vector: vector.slice(), sequence: this.#sequence });
  }

  async epoch(): Promise<string> {
    return 'memory';
  }

  async read(project: Token, after: number): Promise<VectorsRead> {
    const vectors = [...(this.#kept.get(project) ?? [])]
      .filter(([, { sequence }]) => sequence > after)
      .map(([learning, kept]) => ({ ...kept, learning, vector: kept.vector.slice() }));
    const through = vectors.at(-1)?.sequence ?? after;
    return { vectors: vectors.map(({ sequence: _, ...vector }) => vector), through };
  }
}
