import { LRUCache } from 'lru-cache';
import type { NatsConnection, Subscription } from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  type Archived,
  type Forgotten,
  type LifecycleRecord,
  lifecycleRecord,
} from '../../contracts/lifecycle-record.js';
import { archivedKey, forgottenKey, sessionOfArchivedKey, type Token } from '../../contracts/names.js';
import type {
  DecideArchived,
  ForgottenAt,
  LifecycleChange,
  NextRecord,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
import { batched } from '../../engine/runtime/batched.js';
import { onConnectionState } from '../connection/connection-states.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import {
  GONE,
  isDeletion,
  KEPT,
  KvBucket,
  keyOf,
  LIFECYCLE_PREFIX,
  type LifecycleOptions,
  type Next,
} from './kv-bucket.js';

/** Cached hashes of names. */
const MAX_HASHED = 10_000;
/** Poll interval without announcements. */
const LOOK_EVERY_MS = 800;
/** A look whose answer was lost with a connection must not delay the next one for long. */
const LOOK_TIMEOUT_MS = 1000;
/** An announced record may become readable a moment later. */
const ANNOUNCED_PAUSE_MS = 20;
/** Maximum age of a look that counts as current: forgetting a session waits longer until everyone knows. */
const KNOWN_MS = 1500;
const UNREADABLE =
  'archived and forgotten sessions are not known here: give the user the permissions that "throughline admin permissions" prints';

interface Kept {
  readonly revision: number;
  /** `undefined` after a deletion. */
  readonly record: LifecycleRecord | undefined;
}

/**
 * The records in the bucket `session_lifecycle`, JSON on one line. The bucket is created with the first record.
 *
 * New records are read when a write is announced, and every 800 ms in any case; everything is read again after a reconnect. A
 * user who may not read the bucket sees no records.
 */
export class NatsSessionLifecycle implements SessionLifecycle {
  readonly #options: LifecycleOptions;
  readonly #bucket: KvBucket;
  /** Each record at its highest revision. */
  readonly #kept = new Map<string, Kept>();
  /** Number of records of forgotten sessions. */
  #forgotten = 0;
  /** Hashes of names: the extractor looks one up for each result. */
  readonly #keys = new LRUCache<Token, string>({ max: MAX_HASHED });
  readonly #listeners = new Set<(change: LifecycleChange) => void>();
  #isConnected = true;
  #isDenied = false;
  #isClosed = false;
  /** The next look reads everything; else only records after the cursor. */
  #isWholeDue = true;
  #through = 0;
  /** Monotonic start time of the last complete look. */
  #knownAt = Number.NEGATIVE_INFINITY;
  /** Reads new records. */
  readonly #look = batched<void, void>(() => this.#readNew());
  #timer: NodeJS.Timeout | undefined;
  #subscription: Subscription | undefined;
  #unwatch: () => void = () => {};

  private constructor(connection: NatsConnection, options: LifecycleOptions) {
    this.#options = options;
    this.#bucket = new KvBucket(connection, options);
  }

  static async open(connection: NatsConnection, options: LifecycleOptions): Promise<NatsSessionLifecycle> {
    const lifecycle = new NatsSessionLifecycle(connection, options);
    lifecycle.#subscription = connection.subscribe(`${LIFECYCLE_PREFIX}>`, {
      // Polling makes up for a denied subscription.
      callback: (error) => {
        if (error === null) lifecycle.#announced();
      },
    });
    lifecycle.#unwatch = onConnectionState(connection, (is) => lifecycle.#connectionChanged(is));
    await lifecycle.#look().catch((error: unknown) => {
      lifecycle.close();
      throw error;
    });
    lifecycle.#later(LOOK_EVERY_MS);
    return lifecycle;
  }

  archived(session: Token): Archived | undefined {
    // Fast path for the common case.
    if (this.#kept.size === 0) return undefined;
    return this.#archivedIn(session, this.#kept.get(archivedKey(session))?.record);
  }

  forgotten(session: Token): Forgotten | undefined {
    // Fast path: no name is hashed if none is forgotten.
    if (this.#forgotten === 0) return undefined;
    const key = this.#keys.get(session) ?? forgottenKey(session);
    this.#keys.set(session, key);
    return forgottenIn(this.#kept.get(key)?.record);
  }

  refreshed(): Promise<void> | undefined {
    return this.#isKnown() ? undefined : this.#refresh();
  }

  unfinished(): readonly Token[] {
    return [...this.#kept.values()].flatMap(({ record }) => {
      const { status, session } = forgottenIn(record) ?? {};
      return status === 'forgetting' ? (session ?? []) : [];
    });
  }

  archiving(): readonly Token[] {
    return [...this.#kept.values()].flatMap(({ record }) =>
      record?.kind === 'archived' && this.archived(record.session)?.pending ? [record.session] : [],
    );
  }

  onChange(listener: (change: LifecycleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async change(session: Token, decide: DecideArchived): Promise<boolean> {
    let isKept = false;
    await this.#write(archivedKey(session), (stored) => {
      const next = decide(this.#archivedIn(session, stored));
      isKept = next === 'keep';
      if (next === 'keep') return KEPT;
      return next === 'remove' ? undefined : { v: 1, status: 'archived', ...next };
    });
    return !isKept;
  }

  async forgetting(session: Token, given: ForgottenAt | NextRecord): Promise<boolean> {
    let isAllowed = false;
    await this.#write(forgottenKey(session), (stored) => {
      const before = forgottenIn(stored);
      const record = typeof given === 'function' ? given(before) : given;
      isAllowed = record !== undefined;
      if (record === undefined) return KEPT;
      return {
        ...{ v: 1, status: 'forgetting', ...record },
        dispatches: Math.max(record.dispatches, before?.dispatches ?? 0),
        sequence: Math.max(record.sequence, before?.sequence ?? 0),
        session,
      };
    });
    if (isAllowed) await this.#write(archivedKey(session), () => GONE);
    return isAllowed;
  }

  async forgot(
    session: Token,
    at: string,
    ownsRecord: (there: Forgotten | undefined) => boolean = () => true,
  ): Promise<boolean> {
    let isAllowed = false;
    await this.#write(forgottenKey(session), (stored) => {
      const before = forgottenIn(stored);
      isAllowed = ownsRecord(before);
      if (!isAllowed) return KEPT;
      const { dispatches = 0, sequence = 0 } = before ?? {};
      return { v: 1, status: 'forgotten', at, dispatches, sequence };
    });
    return isAllowed;
  }

  async expire(olderThan: string): Promise<number> {
    const isOld = (record: Forgotten | undefined) => record?.status === 'forgotten' && record.at < olderThan;
    let removed = 0;
    for (const [key, { record }] of [...this.#kept]) {
      if (!isOld(forgottenIn(record))) continue;
      const isRemoved = await this.#write(key, (stored) => (isOld(forgottenIn(stored)) ? GONE : KEPT));
      if (isRemoved) removed += 1;
    }
    return removed;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unwatch();
    this.#subscription?.unsubscribe();
  }

  #announced(): void {
    void this.#quietly();
    if (!this.#isClosed) this.#later(ANNOUNCED_PAUSE_MS);
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#quietly().then(() => {
        if (!this.#isClosed) this.#later(LOOK_EVERY_MS);
      });
    }, ms);
  }

  #connectionChanged(isConnected: boolean): void {
    this.#isConnected = isConnected;
    if (!isConnected || this.#isClosed) return;
    // This may be another server, with another bucket and other permissions.
    this.#isWholeDue = true;
    this.#isDenied = false;
    void this.#quietly();
  }

  #isKnown(): boolean {
    return performance.now() - this.#knownAt < KNOWN_MS || this.#isDenied || this.#isClosed;
  }

  async #refresh(): Promise<void> {
    // The answer to a look may have been queued here while the process was suspended.
    while (!this.#isKnown()) {
      if (!this.#isConnected)
        throw new ThroughlineError('unavailable', 'forgotten sessions are not known while NATS is away');
      await this.#look();
    }
  }

  /** Looks and ignores a failure: the next look makes up for it. */
  async #quietly(): Promise<void> {
    try {
      await this.#look();
    } catch (err) {
      if (!this.#isClosed)
        this.#options.logger.debug?.({ code: codeOf(err), err }, 'lifecycle records not read');
    }
  }

  async #readNew(): Promise<void> {
    if (this.#isDenied || this.#isClosed || !this.#isConnected) return;
    const isWhole = this.#isWholeDue;
    this.#isWholeDue = false;
    const begun = performance.now();
    try {
      const timeoutMs = Math.min(this.#options.timeoutMs, LOOK_TIMEOUT_MS);
      const messages = await this.#bucket.read(isWhole ? undefined : this.#through, timeoutMs);
      for (const message of messages) this.#take(message);
      const last = messages.at(-1)?.sequence ?? 0;
      if (isWhole) this.#retain(new Set(messages.map(keyOf)), last);
      this.#through = Math.max(this.#through, last);
      this.#knownAt = begun;
    } catch (error) {
      this.#isWholeDue ||= isWhole;
      const err = toThroughlineError(error, 'reading lifecycle records');
      if (err.code !== 'permission_denied') throw err;
      this.#isDenied = true;
      this.#options.logger.warn({ code: err.code, err }, UNREADABLE);
    }
  }

  /** Takes a value; invalid records are ignored. */
  #take(message: StreamMessage): void {
    if (message.foreign !== undefined) return;
    const record = recordIn(message);
    if (record !== undefined || isDeletion(message)) this.#set(keyOf(message), message.sequence, record);
  }

  #set(key: string, revision: number, record: LifecycleRecord | undefined): void {
    const before = this.#kept.get(key);
    if (before !== undefined && before.revision >= revision) return;
    this.#kept.set(key, { revision, record });
    if (before?.record?.kind === 'forgotten') this.#forgotten -= 1;
    if (record?.kind === 'forgotten') this.#forgotten += 1;
    const change = changeBetween(key, before?.record, record);
    if (change !== undefined) for (const listener of [...this.#listeners]) listener(change);
  }

  /** Removes keys that a complete read did not find, unless they are newer. */
  #retain(found: ReadonlySet<string>, through: number): void {
    for (const key of [...this.#kept.keys()]) if (!found.has(key)) this.#drop(key, through);
  }

  /** Removes a purged key, unless something newer is known. */
  #drop(key: string, revision: number): void {
    if ((this.#kept.get(key)?.revision ?? 0) > revision) return;
    this.#set(key, revision + 1, undefined);
    this.#kept.delete(key);
  }

  /** Returns the archived record unless the session was forgotten later. */
  #archivedIn(session: Token, record: LifecycleRecord | undefined): Archived | undefined {
    if (record?.kind !== 'archived') return undefined;
    const since = this.forgotten(session)?.at ?? '';
    return record.record.at > since ? record.record : undefined;
  }

  /** Writes, and knows the record at once. Returns true if something was written. */
  async #write(
    key: string,
    next: (stored: LifecycleRecord | undefined) => ReturnType<Next>,
  ): Promise<boolean> {
    const written = await this.#bucket.write(key, (message) => {
      if (message !== undefined) this.#take(message);
      return next(message && recordIn(message));
    });
    if (written === undefined) return false;
    const { revision, value } = written;
    if (value === GONE) this.#drop(key, revision);
    else this.#set(key, revision, value === undefined ? undefined : lifecycleRecord(key, value));
    return true;
  }
}

function recordIn(message: StreamMessage): LifecycleRecord | undefined {
  if (message.foreign !== undefined || isDeletion(message)) return undefined;
  return lifecycleRecord(keyOf(message), jsonOf(message.data));
}

function forgottenIn(record: LifecycleRecord | undefined): Forgotten | undefined {
  return record?.kind === 'forgotten' ? record.record : undefined;
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
