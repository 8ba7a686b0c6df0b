import { LRUCache } from 'lru-cache';
import { beingForgotten } from '../../contracts/errors.js';
import {
  type Archived,
  type Forgotten,
  type LifecycleRecord,
  lifecycleRecord,
} from '../../contracts/lifecycle-record.js';
import { archivedKey, forgottenKey, sessionOfArchivedKey, type Token } from '../../contracts/names.js';
import type { LifecycleChange, SessionLifecycle } from '../../engine/ports/session-lifecycle.js';

/** Cached hashes of names: the extractor looks one up for each result. */
const MAX_HASHED = 10_000;

interface Kept {
  readonly revision: number;
  /** `undefined` after a deletion. */
  readonly record: LifecycleRecord | undefined;
}

/** The records of the bucket in memory, each at its highest revision. */
export class LifecycleView {
  readonly #kept = new Map<string, Kept>();
  readonly #keys = new LRUCache<Token, string>({ max: MAX_HASHED });
  readonly #listeners = new Set<(change: LifecycleChange) => void>();
  #forgotten = 0;

  archived(session: Token): Archived | undefined {
    // Fast path for the common case.
    if (this.#kept.size === 0) return undefined;
    return this.archivedIn(session, this.#kept.get(archivedKey(session))?.record);
  }

  /** Returns the archived record unless the session was forgotten later. */
  archivedIn(session: Token, record: LifecycleRecord | undefined): Archived | undefined {
    if (record?.kind !== 'archived') return undefined;
    const since = this.forgotten(session)?.at ?? '';
    return record.record.at > since ? record.record : undefined;
  }

  archiving(): Token[] {
    return [...this.#kept.values()].flatMap(({ record }) =>
      record?.kind === 'archived' && this.archived(record.session)?.pending ? [record.session] : [],
    );
  }

  forgotten(session: Token): Forgotten | undefined {
    // Fast path: no name is hashed if none is forgotten.
    if (this.#forgotten === 0) return undefined;
    let key = this.#keys.get(session);
    if (key === undefined) {
      key = forgottenKey(session);
      this.#keys.set(session, key);
    }
    const record = this.#kept.get(key)?.record;
    return record?.kind === 'forgotten' ? record.record : undefined;
  }

  allForgotten(): { readonly key: string; readonly record: Forgotten }[] {
    return [...this.#kept].flatMap(([key, { record }]) =>
      record?.kind === 'forgotten' ? { key, record: record.record } : [],
    );
  }

  onChange(listener: (change: LifecycleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores a value; invalid records are ignored. */
  stored(key: string, revision: number, json: unknown): void {
    const record = lifecycleRecord(key, json);
    if (record !== undefined) this.#set(key, { revision, record });
  }

  deleted(key: string, revision: number): void {
    this.#set(key, { revision, record: undefined });
  }

  /** Removes keys that a complete read did not find, unless they are newer. */
  retain(found: ReadonlySet<string>, through: number): void {
    for (const [key, { revision }] of [...this.#kept]) {
      if (revision > through || found.has(key)) continue;
      this.#set(key, { revision: through, record: undefined });
      this.#kept.delete(key);
    }
  }

  /** Removes a purged key, unless something newer is known. */
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

/** The part of the lifecycle records that stores need. */
export type ForgottenSessions = Pick<SessionLifecycle, 'forgotten' | 'refreshed'>;

export const NONE_FORGOTTEN: ForgottenSessions = { forgotten: () => undefined, refreshed: () => undefined };

/**
 * Returns the sequence up to which data of a session must not be kept: its last one when it was forgotten, everything while it
 * is being forgotten, 0 if it never was.
 */
export function minRetainedSequence(lifecycle: ForgottenSessions): (session: Token) => number {
  return (session) => {
    const record = lifecycle.forgotten(session);
    if (record === undefined) return 0;
    return record.status === 'forgetting' ? Number.MAX_SAFE_INTEGER : record.sequence;
  };
}

/** Returns the sequence above which a session's next log starts; 0 if it was never forgotten. */
export function firstSequenceAbove(lifecycle: ForgottenSessions): (session: Token) => number {
  return (session) => lifecycle.forgotten(session)?.sequence ?? 0;
}

/** Returns the session's generation. Throws ThroughlineError `session_forgotten` while it is being forgotten. */
export function currentGeneration(lifecycle: ForgottenSessions, session: Token): string {
  const record = lifecycle.forgotten(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
}
