import type { Token } from '../../src/contracts/names.js';
import type { SessionIndexEntry } from '../../src/contracts/replies/session-reply.js';
import type { IndexListener, IndexPart, SessionIndex } from '../../src/engine/ports/session-log.js';

export class MemorySessionIndex implements SessionIndex {
  readonly kept = new Map<string, { readonly entry: SessionIndexEntry; readonly revision: number }>();
  readonly #listeners = new Set<IndexListener>();
  #revision = 0;
  #epoch = 0;

  async epoch(): Promise<string | undefined> {
    return this.#revision === 0 ? undefined : String(this.#epoch);
  }

  async *read(after: number): AsyncGenerator<IndexPart> {
    const newer = [...this.kept.values()].filter(({ revision }) => revision > after);
    if (newer.length > 0) yield { entries: newer.map(({ entry }) => entry), through: this.#revision };
  }

  watch(listener: IndexListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async put(entry: SessionIndexEntry): Promise<'saved' | 'older'> {
    const { session } = entry.figures;
    if ((this.kept.get(session)?.entry.sequence ?? -1) >= entry.sequence) return 'older';
    this.#revision += 1;
    this.kept.set(session, { entry, revision: this.#revision });
    for (const { written } of this.#listeners) written(entry);
    return 'saved';
  }

  async remove(session: Token): Promise<void> {
    this.kept.delete(session);
    for (const { removed } of this.#listeners) removed(session);
  }

  /** Simulates deletion of the bucket. */
  lose(): void {
    this.kept.clear();
    this.#revision = 0;
    this.#epoch += 1;
  }
}
