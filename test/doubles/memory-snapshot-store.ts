import type { Token } from '../../src/contracts/names.js';
import type { SaveOutcome, SnapshotStore, StoredSnapshot } from '../../src/engine/ports/session-log.js';

const HISTORY = 5;

/** Snapshots in memory: the newest five of each session, like the bucket. */
export class MemorySnapshotStore implements SnapshotStore {
  readonly #kept = new Map<Token, StoredSnapshot[]>();

  async load(session: Token): Promise<StoredSnapshot | undefined> {
    return this.#newest(session);
  }

  async loadAtOrBefore(session: Token, sequence: number): Promise<StoredSnapshot | undefined> {
    return this.#kept.get(session)?.findLast((kept) => kept.sequence <= sequence);
  }

  async save(session: Token, { sequence, text }: StoredSnapshot): Promise<SaveOutcome> {
    const newest = this.#newest(session);
    if (newest !== undefined && newest.sequence >= sequence) return 'older';
    this.#kept.set(session, [...(this.#kept.get(session) ?? []), { sequence, text }].slice(-HISTORY));
    return 'saved';
  }

  #newest(session: Token): StoredSnapshot | undefined {
    return this.#kept.get(session)?.at(-1);
  }
}
