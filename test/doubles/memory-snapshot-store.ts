import type { Token } from '../../src/contracts/names.js';
import type { SaveOutcome, SnapshotStore, StoredSnapshot } from '../../src/engine/ports/session-log.js';

const HISTORY = 5;

export interface MemorySnapshotStoreOptions {
  /** Maximum size of a text in UTF-8 bytes. Default: the default message size of a server. */
  readonly maxBytes?: number;
}

/** Snapshots in memory: the newest five of each session, like the bucket. */
export class MemorySnapshotStore implements SnapshotStore {
  readonly #kept = new Map<Token, StoredSnapshot[]>();
  readonly #maxBytes: number;

  constructor({ maxBytes = 1024 * 1024 - 4096 }: MemorySnapshotStoreOptions = {}) {
    this.#maxBytes = maxBytes;
  }

  async load(session: Token): Promise<StoredSnapshot | undefined> {
    return this.#newest(session);
  }

  async loadAtOrBefore(session: Token, sequence: number): Promise<StoredSnapshot | undefined> {
    return this.#kept.get(session)?.findLast((kept) => kept.sequence > 0 && kept.sequence <= sequence);
  }

  async save(session: Token, { sequence, text }: StoredSnapshot): Promise<SaveOutcome> {
    if (new TextEncoder().encode(text).length > this.#maxBytes) return 'too_large';
    const newest = this.#newest(session);
    if (newest !== undefined && newest.sequence >= sequence) return 'older';
    this.#keep(session, { sequence, text });
    return 'saved';
  }

  /** Replaces the newest snapshot with any text, like `nats kv put`; readers skip it. */
  overwrite(session: Token, text: string): void {
    this.#keep(session, { sequence: 0, text });
  }

  #newest(session: Token): StoredSnapshot | undefined {
    return this.#kept.get(session)?.findLast((kept) => kept.sequence > 0);
  }

  #keep(session: Token, snapshot: StoredSnapshot): void {
    this.#kept.set(session, [...(this.#kept.get(session) ?? []), snapshot].slice(-HISTORY));
  }
}
