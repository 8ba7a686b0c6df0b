import { LRUCache } from 'lru-cache';
import type { NatsConnection, Subscription } from 'nats';
import { beingForgotten, codeOf, ThroughlineError } from '../../contracts/errors.js';
import {
  type Archived,
  type Forgotten,
  type LifecycleRecord,
  lifecycleRecord,
} from '../../contracts/lifecycle-record.js';
import { LIFECYCLE_BUCKET, lifecycleKey, type Token } from '../../contracts/names.js';
import {
  type ForgottenSessions,
  type SessionLifecycle,
  type SessionRecord,
  TOMBSTONE_MS,
} from '../../engine/ports/session-lifecycle.js';
import { batched } from '../../engine/runtime/pacing.js';
import { defined } from '../../shared/collections.js';
import { jsonOf } from '../../shared/text.js';
import { onConnectionState } from '../connection/connect-nats.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { KEPT, KvBucket, type LifecycleOptions } from './kv-bucket.js';

const PREFIX = `$KV.${LIFECYCLE_BUCKET}.`;
const MAX_HASHED = 10_000;
const LOOK_EVERY_MS = 800;
/** A look whose answer was lost with a connection must not delay the next one for long. */
const LOOK_TIMEOUT_MS = 1000;
/** An announced record may become readable a moment later. */
const ANNOUNCED_PAUSE_MS = 20;
/** Maximum age of a look that counts as current: forgetting a session waits longer until everyone knows. */
const KNOWN_MS = 1500;

interface Known {
  readonly revision: number;
  readonly record: LifecycleRecord;
}

/**
 * The records in the bucket `session_lifecycle`, JSON on one line. The bucket is created with the first record. The server expires
 * a record without a name.
 *
 * New records are read when a write is announced, and every 800 ms in any case; everything is read again after a reconnect.
 */
export class NatsSessionLifecycle implements SessionLifecycle {
  readonly #options: LifecycleOptions;
  readonly #bucket: KvBucket;
  /** Each record at its highest revision, by key. */
  readonly #known = new Map<string, Known>();
  readonly #named = new Map<Token, LifecycleRecord>();
  /** Hashes of names: the extractor looks one up for each result. */
  readonly #keys = new LRUCache<Token, string>({ max: MAX_HASHED });
  readonly #listeners = new Set<(session: Token) => void>();
  #isConnected = true;
  #isClosed = false;
  /** The next look reads everything; else only records after the cursor. */
  #isWholeDue = true;
  #through = 0;
  /** Monotonic start time of the last complete look. */
  #knownAt = Number.NEGATIVE_INFINITY;
  readonly #look = batched<void, void>(() => this.#readNew());
  readonly #timer = setInterval(() => void this.#lookQuietly(), LOOK_EVERY_MS);
  readonly #subscription: Subscription;
  readonly #unwatch: () => void;

  private constructor(connection: NatsConnection, options: LifecycleOptions) {
    this.#options = options;
    this.#bucket = new KvBucket(connection, options);
    this.#subscription = connection.subscribe(`${PREFIX}>`, {
      // Polling makes up for a denied subscription.
      callback: (error) => {
        if (error !== null) return;
        void this.#lookQuietly();
        setTimeout(() => void this.#lookQuietly(), ANNOUNCED_PAUSE_MS);
      },
    });
    this.#unwatch = onConnectionState(connection, (isConnected) => {
      this.#isConnected = isConnected;
      // This may be another server, with another bucket.
      this.#isWholeDue = true;
      if (isConnected) void this.#lookQuietly();
    });
  }

  /** Throws as `change`. */
  static async open(connection: NatsConnection, options: LifecycleOptions): Promise<NatsSessionLifecycle> {
    const lifecycle = new NatsSessionLifecycle(connection, options);
    await lifecycle.#look().catch((error: unknown) => {
      lifecycle.close();
      throw error;
    });
    return lifecycle;
  }

  archived(session: Token): Archived | undefined {
    return this.#named.get(session)?.archived;
  }

  forgotten(session: Token): Forgotten | undefined {
    // Fast path: no name is hashed if none is forgotten.
    if (this.#known.size === this.#named.size) return this.#named.get(session)?.forgotten;
    let key = this.#keys.get(session);
    if (key === undefined) {
      key = lifecycleKey(session);
      this.#keys.set(session, key);
    }
    return this.#known.get(key)?.record.forgotten;
  }

  refreshed(): Promise<void> | undefined {
    return this.#isCurrent() ? undefined : this.#refresh();
  }

  unfinished(): readonly Token[] {
    return [...this.#named].flatMap(([session, { forgotten }]) =>
      forgotten?.status === 'forgetting' ? [session] : [],
    );
  }

  archiving(): readonly Token[] {
    return [...this.#named].flatMap(([session, { archived }]) => (archived?.pending ? [session] : []));
  }

  onForgotten(listener: (session: Token) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes, and knows the record at once. */
  async change(session: Token, next: (there: SessionRecord) => SessionRecord): Promise<SessionRecord> {
    const key = lifecycleKey(session);
    let record: LifecycleRecord = { v: 1 };
    const write = (message: StreamMessage | undefined) => {
      const there = (message && this.#take(message)) ?? { v: 1 };
      const wanted = next(there);
      record = wanted === there ? there : recordOf(session, wanted);
      return wanted === there ? KEPT : record;
    };
    const ttlMs = () => (record.session === undefined ? TOMBSTONE_MS : undefined);
    const revision = await this.#bucket.write(key, write, ttlMs);
    if (revision !== undefined) this.#set(key, { revision, record });
    return record;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#unwatch();
    this.#subscription.unsubscribe();
  }

  #isCurrent(): boolean {
    return performance.now() - this.#knownAt < KNOWN_MS || this.#isClosed;
  }

  async #refresh(): Promise<void> {
    // The answer to a look may have been queued here while the process was suspended.
    while (!this.#isCurrent()) {
      if (!this.#isConnected)
        throw new ThroughlineError('unavailable', 'forgotten sessions are not known while NATS is away');
      await this.#look();
    }
  }

  /** Looks and ignores a failure: the next look makes up for it. */
  async #lookQuietly(): Promise<void> {
    await this.#look().catch((err: unknown) => {
      if (!this.#isClosed)
        this.#options.logger.debug?.({ code: codeOf(err), err }, 'lifecycle records not read');
    });
  }

  async #readNew(): Promise<void> {
    if (this.#isClosed || !this.#isConnected) return;
    const isWhole = this.#isWholeDue;
    const begun = performance.now();
    const timeoutMs = Math.min(this.#options.timeoutMs, LOOK_TIMEOUT_MS);
    const messages = await this.#bucket.read(isWhole ? undefined : this.#through, timeoutMs);
    for (const message of messages) this.#take(message);
    const last = messages.at(-1)?.sequence ?? 0;
    if (isWhole) {
      const found = new Set(messages.map(({ subject }) => subject.slice(PREFIX.length)));
      for (const [key, { revision }] of this.#known) if (!found.has(key) && revision <= last) this.#drop(key);
      this.#isWholeDue = false;
    }
    this.#through = Math.max(this.#through, last);
    this.#knownAt = begun;
  }

  /** Takes the record in a message and returns it; ignores a foreign or an invalid one. */
  #take({ subject, sequence: revision, data, foreign }: StreamMessage): LifecycleRecord | undefined {
    const key = subject.slice(PREFIX.length);
    const record = foreign === undefined ? lifecycleRecord(key, jsonOf(data)) : undefined;
    if (record !== undefined) this.#set(key, { revision, record });
    return record;
  }

  #set(key: string, known: Known): void {
    const before = this.#known.get(key);
    if (before !== undefined && before.revision >= known.revision) return;
    this.#drop(key);
    this.#known.set(key, known);
    const { session, forgotten } = known.record;
    if (session !== undefined) this.#named.set(session, known.record);
    const name = session ?? before?.record.session;
    if (name === undefined || !forgotten || forgotten.status === before?.record.forgotten?.status) return;
    for (const listener of [...this.#listeners]) listener(name);
  }

  #drop(key: string): void {
    const { session } = this.#known.get(key)?.record ?? {};
    this.#known.delete(key);
    if (session !== undefined) this.#named.delete(session);
  }
}

function recordOf(session: Token, { archived, forgotten }: SessionRecord): LifecycleRecord {
  const isNamed = archived !== undefined || forgotten?.status === 'forgetting';
  return { v: 1, ...(isNamed && { session }), ...defined({ archived, forgotten }) };
}

export const NONE_FORGOTTEN: ForgottenSessions = { forgotten: () => undefined, refreshed: () => undefined };

/** Returns a session's generation, which changes when it is forgotten. Throws `session_forgotten` during that. */
export function generationOf(lifecycle: Pick<SessionLifecycle, 'forgotten'>, session: Token): string {
  const record = lifecycle.forgotten(session);
  if (record?.status === 'forgetting') throw beingForgotten(session);
  return record?.at ?? '';
}

/** Returns the sequence up to which a session must not be kept: all of it while it is being forgotten, 0 if it never was. */
export function minRetainedSequence(lifecycle: ForgottenSessions, session: Token): number {
  const record = lifecycle.forgotten(session);
  return record?.status === 'forgetting' ? Number.MAX_SAFE_INTEGER : (record?.sequence ?? 0);
}
