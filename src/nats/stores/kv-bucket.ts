import {
  DiscardPolicy,
  type NatsConnection,
  headers as newHeaders,
  StorageType,
  type StreamConfig,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { LIFECYCLE_BUCKET } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import {
  API,
  apiCode,
  ifExists,
  isNoResponders,
  toThroughlineError,
  WRONG_SEQUENCE,
} from '../connection/nats-errors.js';
import { readLast, readStream, type StreamMessage, type StreamPlace } from '../jetstream/direct-get.js';
import { newestStored } from '../jetstream/newest-page.js';
import type { TopologyOptions } from '../jetstream/topology.js';

export const LIFECYCLE_STREAM = `KV_${LIFECYCLE_BUCKET}`;
/** Attempts of compare-and-set; one writer succeeds in each round. */
const MAX_ATTEMPTS = 100;

export interface BucketOptions extends TopologyOptions {
  readonly timeoutMs: number;
}

export interface LifecycleOptions extends BucketOptions {
  readonly logger: Logger;
}

export const KEPT = Symbol('kept');
/** Returned instead of a value: purge the key. A deletion marker would keep its name. */
export const GONE = Symbol('gone');

/** A value as it is stored: a text, or an object as JSON on one line; `undefined` for a deletion marker. */
type Value = object | string | undefined;

export type Next = (
  last: StreamMessage | undefined,
) => Value | typeof KEPT | typeof GONE | Promise<Value | typeof KEPT>;

export interface BucketKind {
  readonly name: string;
  /** `any`: by direct get from any replica, which needs fewer permissions. Default: from the leader. */
  readonly reads?: 'any';
  readonly config: () => Partial<StreamConfig> & { readonly allow_msg_ttl?: true };
}

export const LIFECYCLE: BucketKind = {
  name: LIFECYCLE_BUCKET,
  config: () => ({
    deny_delete: true,
    allow_msg_ttl: true,
    description: 'Archived and forgotten sessions, and how long things are kept',
    // Cursors into an earlier bucket must stay valid.
    first_seq: Date.now() * 1000,
  }),
};

/** A KV bucket written by compare-and-set and created with the first value. Default: `session_lifecycle`. */
export class KvBucket {
  readonly #connection: NatsConnection;
  readonly #options: BucketOptions;
  readonly #kind: BucketKind;
  readonly #stream: string;
  #isThere = false;

  constructor(connection: NatsConnection, options: BucketOptions, kind: BucketKind = LIFECYCLE) {
    this.#connection = connection;
    this.#options = options;
    this.#kind = kind;
    this.#stream = `KV_${kind.name}`;
  }

  /** Creates the bucket, unless it exists. Throws `unavailable`, `permission_denied`. */
  async ensure(): Promise<void> {
    if ((await this.#messages(this.#options.timeoutMs)) === undefined) await this.#make();
  }

  /** Returns the messages after a revision, or all. Throws `unavailable`, also if not everything could be read. */
  async read(after: number | undefined, timeoutMs: number): Promise<StreamMessage[]> {
    try {
      // If someone subscribes to everything, a read without a bucket gets no answer at all.
      const expected = after === undefined || !this.#isThere ? await this.#messages(timeoutMs) : 0;
      if (expected === undefined) return [];
      const range = { from: (after ?? 0) + 1 };
      const messages = await readStream(this.#place(timeoutMs), '>', range);
      // A server that has just started finds its streams a moment before it can read them.
      if (after !== undefined || messages.length >= expected) return messages;
      throw new ThroughlineError('unavailable', `${this.#stream} was not read whole`);
    } catch (error) {
      this.#isThere = false;
      throw toThroughlineError(error, `reading ${this.#stream}`);
    }
  }

  /** Returns the message of a key; `undefined` without a value or bucket. Throws `unavailable`. */
  async get(key: string): Promise<StreamMessage | undefined> {
    const { timeoutMs } = this.#options;
    try {
      if (!this.#isThere && (await this.#messages(timeoutMs)) === undefined) return undefined;
      return await this.#newest(this.#subjectOf(key));
    } catch (error) {
      this.#isThere = false;
      throw toThroughlineError(error, `reading ${key} of ${this.#stream}`);
    }
  }

  /**
   * Writes by compare-and-set: stores `next(stored)`; after a lost race, calls it again. Returns the new revision; `undefined` if
   * that is already stored or is to stay.
   *
   * @param ttlOf called after `next`: returns the time to live of its value, which is then stored again even if it is unchanged
   */
  async write(
    key: string,
    next: Next,
    ttlOf: () => number | undefined = () => undefined,
  ): Promise<number | undefined> {
    const { timeoutMs } = this.#options;
    try {
      if (!this.#isThere) await this.#messages(timeoutMs);
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const subject = this.#subjectOf(key);
        const last = this.#isThere ? await this.#newest(subject) : undefined;
        const value = await next(last);
        const ttlMs = ttlOf();
        // Another process has purged it, which is not announced.
        if (value === GONE && last === undefined) return undefined;
        if (value === KEPT || (ttlMs === undefined && isStored(value, last))) return undefined;
        if (!this.#isThere) await this.#make();
        const revision =
          value === GONE
            ? await this.#purge(subject, last?.sequence ?? 0)
            : await this.#replace(subject, value, last?.sequence ?? 0, ttlMs);
        if (revision !== undefined) return revision;
      }
    } catch (error) {
      // The bucket may have been deleted: the next write creates it.
      this.#isThere = false;
      throw toThroughlineError(error, `writing ${key} of ${this.#stream}`);
    }
    throw new ThroughlineError('conflict', `others keep writing ${key} of ${this.#kind.name}`);
  }

  /** A replica may lag, and no write would reveal it if the decision is to keep the value: the leader does not. */
  async #newest(subject: string): Promise<StreamMessage | undefined> {
    const { timeoutMs } = this.#options;
    if (this.#kind.reads === undefined)
      return newestStored(await this.#manager(timeoutMs), this.#stream, subject);
    return readLast(this.#place(timeoutMs), subject).catch((error: unknown) => {
      if (!isNoResponders(error)) throw error;
      // The bucket was deleted.
      this.#isThere = false;
      return undefined;
    });
  }

  /** Purges a revision and returns it; `undefined` if the value has changed. */
  async #purge(subject: string, last: number): Promise<number | undefined> {
    const jsm = await this.#manager(this.#options.timeoutMs);
    const { purged } = await jsm.streams.purge(this.#stream, { filter: subject, seq: last + 1 });
    return purged > 0 ? last : undefined;
  }

  /** Returns the new revision; `undefined` after a lost race. */
  async #replace(
    subject: string,
    value: Value,
    last: number,
    ttlMs: number | undefined,
  ): Promise<number | undefined> {
    const headers = newHeaders();
    if (value === undefined) headers.set('KV-Operation', 'DEL');
    if (ttlMs !== undefined) headers.set('Nats-TTL', `${Math.ceil(ttlMs / 1000)}s`);
    try {
      const js = this.#connection.jetstream({ checkAPI: false, timeout: this.#options.timeoutMs });
      const { seq } = await js.publish(subject, textOf(value), {
        ...((value === undefined || ttlMs !== undefined) && { headers }),
        expect: { lastSubjectSequence: last },
      });
      return seq;
    } catch (error) {
      if (WRONG_SEQUENCE.has(apiCode(error))) return undefined;
      if (!isNoResponders(error)) throw error;
      // The bucket was deleted.
      await this.#make();
      return undefined;
    }
  }

  /** Returns the number of messages; `undefined` without a bucket. */
  async #messages(timeoutMs: number): Promise<number | undefined> {
    const info = await ifExists((await this.#manager(timeoutMs)).streams.info(this.#stream));
    if (info !== undefined) this.#isThere = true;
    return info?.state.messages;
  }

  #place(timeoutMs: number): StreamPlace {
    return { connection: this.#connection, stream: this.#stream, timeoutMs };
  }

  #subjectOf(key: string): string {
    return `$KV.${this.#kind.name}.${key}`;
  }

  /** `checkAPI` would request the account's limits, which needs another permission. */
  #manager(timeout: number) {
    return this.#connection.jetstreamManager({ timeout, checkAPI: false });
  }

  async #make(): Promise<void> {
    try {
      const jsm = await this.#manager(this.#options.timeoutMs);
      await jsm.streams.add({
        name: this.#stream,
        subjects: [this.#subjectOf('>')],
        max_msgs_per_subject: 1,
        storage: StorageType.File,
        num_replicas: this.#options.replicas,
        discard: DiscardPolicy.New,
        allow_direct: true,
        allow_rollup_hdrs: true,
        ...this.#kind.config(),
      });
    } catch (error) {
      // Another process has just created it.
      if (apiCode(error) !== API.streamNameInUse) throw error;
    }
    this.#isThere = true;
  }
}

/** Returns true for a marker that deletes everything before it under its key. */
export function isDeletion({ headers, foreign }: Pick<StreamMessage, 'headers' | 'foreign'>): boolean {
  return foreign === undefined && headers?.has('KV-Operation') === true;
}

function textOf(value: Value): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isStored(value: Value | typeof GONE, last: StreamMessage | undefined): boolean {
  if (value === GONE) return false;
  if (value === undefined) return last === undefined || isDeletion(last);
  return last !== undefined && Buffer.from(last.data).toString() === textOf(value);
}
