import { LRUCache } from 'lru-cache';
import {
  type Archived,
  type Forgotten,
  type LifecycleRecord,
  lifecycleRecord,
} from '../../contracts/lifecycle-record.js';
import { archivedKey, forgottenKey, sessionOfArchivedKey, type Token } from '../../contracts/names.js';
import type { LifecycleChange } from '../../engine/ports/session-lifecycle.js';

/** Names whose hash is remembered: the extractor asks for each result. */
const MAX_HASHED = 10_000;

interface Kept {
  readonly revision: number;
  /** None after a deletion. */
  readonly record: LifecycleRecord | undefined;
}

/** The records of a bucket in memory, each as of its highest revision. */
export class LifecycleView {
  readonly #kept = new Map<string, Kept>();
  readonly #keys = new LRUCache<Token, string>({ max: MAX_HASHED });
  readonly #listeners = new Set<(change: LifecycleChange) => void>();
  #forgotten = 0;

  archived(session: Token): Archived | undefined {
    // Most often there is none, and each result and event asks.
    if (this.#kept.size === 0) return undefined;
    return this.archivedIn(session, this.#kept.get(archivedKey(session))?.record);
  }

  /** What a record says of a session. With one that is forgotten goes its record, also where nobody has told so. */
  archivedIn(session: Token, record: LifecycleRecord | undefined): Archived | undefined {
    if (record?.kind !== 'archived') return undefined;
    const since = this.forgotten(session)?.at ?? '';
    return record.record.at > since ? record.record : undefined;
  }

  /** When it was archived, also while it may be forgotten. */
  archivedAt(session: Token): string | undefined {
    const record = this.#kept.get(archivedKey(session))?.record;
    return record?.kind === 'archived' ? record.record.at : undefined;
  }

  archiving(): Token[] {
    return [...this.#kept.values()].flatMap(({ record }) =>
      record?.kind === 'archived' && this.archived(record.session)?.pending ? [record.session] : [],
    );
  }

  forgotten(session: Token): Forgotten | undefined {
    // Most often there is none, and no name is hashed.
    if (this.#forgotten === 0) return undefined;
    let key = this.#keys.get(session);
    if (key === undefined) {
      key = forgottenKey(session);
      this.#keys.set(session, key);
    }
    const record = this.#kept.get(key)?.record;
    return record?.kind === 'forgotten' ? record.record : undefined;
  }

  /** The records of forgotten sessions, with their keys. */
  allForgotten(): { readonly key: string; readonly record: Forgotten }[] {
    return [...this.#kept].flatMap(([key, { record }]) =>
      record?.kind === 'forgotten' ? { key, record: record.record } : [],
    );
  }

  onChange(listener: (change: LifecycleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes in what is stored under a key; a text that is not a record changes nothing. */
  stored(key: string, revision: number, json: unknown): void {
    const record = lifecycleRecord(key, json);
    if (record !== undefined) this.#set(key, { revision, record });
  }

  deleted(key: string, revision: number): void {
    this.#set(key, { revision, record: undefined });
  }

  /** Drops what a look at the whole bucket has not found, unless it came after the look. */
  retain(found: ReadonlySet<string>, through: number): void {
    for (const [key, { revision }] of [...this.#kept]) {
      if (revision > through || found.has(key)) continue;
      this.#set(key, { revision: through, record: undefined });
      this.#kept.delete(key);
    }
  }

  /** Drops what has gone, unless something newer is known. */
  drop(key: string, revision: number): void {
    if ((this.#kept.get(key)?.revision ?? 0) > revision) return;
    this.#set(key, { revision: revision + 1, record: undefined });
    this.#kept.delete(key);
  }

  #set(key: string, next: Kept): void {
    const before = this.#kept.get(key);
    if (before !== undefined && before.revision >= next.revision) return;
    this.#kept.set(key, next);
    if (before?.record?.kind === 'forgotten') this.#forgotten -= 1;
    if (next.record?.kind === 'forgotten') this.#forgotten += 1;
    const change = changeBetween(key, before?.record, next.record);
    if (change !== undefined) for (const listener of [...this.#listeners]) listener(change);
  }
}

function changeBetween(
  key: string,
  before: LifecycleRecord | undefined,
  next: LifecycleRecord | undefined,
): LifecycleChange | undefined {
  if (next?.kind === 'archived') return { kind: 'archived', session: next.session };
  const session = sessionOfArchivedKey(key);
  if (session !== undefined) return before && { kind: 'reopened', session };
  if (next === undefined) return undefined;
  const { status, session: named } = next.record;
  return status === 'forgetting' && named !== undefined
    ? { kind: 'forgetting', session: named }
    : { kind: 'forgotten' };
}
