import type { NatsConnection, Subscription } from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  type Archived,
  type Forgotten,
  type LifecycleRecord,
  lifecycleRecord,
} from '../../contracts/lifecycle-record.js';
import { archivedKey, forgottenKey, type Token } from '../../contracts/names.js';
import type {
  DecideArchived,
  ForgottenAt,
  LifecycleChange,
  NextRecord,
  SessionLifecycle,
} from '../../engine/ports/session-lifecycle.js';
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
import { LifecycleView } from './lifecycle-view.js';

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

/**
 * The records in the bucket `session_lifecycle`, JSON on one line. The bucket is created with the first record.
 *
 * New records are read when a write is announced, and every 800 ms in any case; everything is read again after a reconnect. A
 * user who may not read the bucket sees no records.
 */
export class NatsSessionLifecycle implements SessionLifecycle {
  readonly #options: LifecycleOptions;
  readonly #bucket: KvBucket;
  readonly #view = new LifecycleView();
  #isConnected = true;
  #isDenied = false;
  #isClosed = false;
  /** The next look reads everything; else only records after the cursor. */
  #isWholeDue = true;
  #through = 0;
  /** Monotonic start time of the last complete look. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #again = false;
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
    return this.#view.archived(session);
  }

  forgotten(session: Token): Forgotten | undefined {
    return this.#view.forgotten(session);
  }

  refreshed(): Promise<void> | undefined {
    return this.#isKnown() ? undefined : this.#refresh();
  }

  unfinished(): readonly Token[] {
    return this.#view
      .allForgotten()
      .flatMap(({ record: { status, session } }) => (status === 'forgetting' ? (session ?? []) : []));
  }

  archiving(): readonly Token[] {
    return this.#view.archiving();
  }

  onChange(listener: (change: LifecycleChange) => void): () => void {
    return this.#view.onChange(listener);
  }

  async change(session: Token, decide: DecideArchived): Promise<boolean> {
    let isKept = false;
    await this.#write(archivedKey(session), (stored) => {
      const next = decide(this.#view.archivedIn(session, stored));
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
    const old = this.#view.allForgotten().filter(({ record }) => isOld(record));
    let removed = 0;
    for (const { key } of old) {
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

  /** Reads new records; a request during a look triggers another look. */
  async #look(): Promise<void> {
    if (this.#looking !== undefined) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#readNew().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
    if (!this.#again) return;
    this.#again = false;
    await this.#look();
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
      if (isWhole) this.#view.retain(new Set(messages.map(keyOf)), last);
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

  #take(message: StreamMessage): void {
    const { sequence, data, foreign } = message;
    if (foreign !== undefined) return;
    if (isDeletion(message)) this.#view.deleted(keyOf(message), sequence);
    else this.#view.stored(keyOf(message), sequence, jsonOf(data));
  }

  /** Writes and updates the view immediately. Returns true if something was written. */
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
    if (value === GONE) this.#view.drop(key, revision);
    else if (value === undefined) this.#view.deleted(key, revision);
    else this.#view.stored(key, revision, value);
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
