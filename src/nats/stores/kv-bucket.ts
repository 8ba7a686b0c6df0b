import {
  DiscardPolicy,
  type NatsConnection,
  headers as newHeaders,
  StorageType,
  type StreamConfig,
} from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { LIFECYCLE_BUCKET } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/logger.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { newestStored } from '../jetstream/newest-page.js';
import type { TopologyOptions } from '../jetstream/topology.js';
import { isDeletion } from './nats-snapshot-store.js';

/** The stream behind the bucket. */
export const LIFECYCLE_STREAM = `KV_${LIFECYCLE_BUCKET}`;
export const LIFECYCLE_PREFIX = `$KV.${LIFECYCLE_BUCKET}.`;
/** Rounds of compare and set, each of which one writer wins. */
const MAX_ATTEMPTS = 100;

export interface BucketOptions extends TopologyOptions {
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
}

export interface LifecycleOptions extends BucketOptions {
  readonly logger: Logger;
}

/** Instead of a value: what is stored stays. */
export const KEPT = Symbol('kept');
/** Instead of a value: the key goes without a trace. A mark of deletion would keep its name. */
export const GONE = Symbol('gone');

/** What comes of what is stored under a key, if anything is: a value, or a mark of deletion. */
export type Next = (last: StreamMessage | undefined) => object | undefined | typeof KEPT | typeof GONE;

interface WrittenRecord {
  /** Of what has gone without a trace, the last one that it had. */
  readonly revision: number;
  /** None where the key was deleted. */
  readonly value: object | undefined | typeof GONE;
}

/** Which bucket it is, and what its stream has beside what all have. */
export interface BucketKind {
  readonly name: string;
  readonly config: () => Partial<StreamConfig> & { readonly allow_msg_ttl?: true };
}

const LIFECYCLE: BucketKind = {
  name: LIFECYCLE_BUCKET,
  config: () => ({
    deny_delete: true,
    description: 'Archived and forgotten sessions, and how long things are kept',
    // Those who have read a bucket before this one ask for what is newer.
    first_seq: Date.now() * 1000,
  }),
};

/** A bucket that is written by compare-and-set, and made with the first value. Default: `session_lifecycle`. */
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

  /**
   * What was stored after a revision, or everything.
   *
   * @throws ThroughlineError `unavailable` also where not everything could be read
   */
  async read(after: number | undefined, timeoutMs: number): Promise<StreamMessage[]> {
    try {
      // Where someone listens to everything, a read without a bucket gets no answer at all.
      const expected = after === undefined || !this.#isThere ? await this.#messages(timeoutMs) : 0;
      if (expected === undefined) return [];
      const range = { from: (after ?? 0) + 1 };
      const messages = await readStream(this.#connection, this.#stream, '>', range, timeoutMs);
      // A server that has just started finds its streams a moment before it reads from them.
      if (after !== undefined || messages.length >= expected) return messages;
      throw new ThroughlineError('unavailable', `${this.#stream} was not read whole`);
    } catch (error) {
      this.#isThere = false;
      throw toThroughlineError(error, 'reading lifecycle records');
    }
  }

  /** What is stored under one key; `undefined` for nothing, also where there is no bucket. Throws `unavailable`. */
  async get(key: string): Promise<StreamMessage | undefined> {
    const { timeoutMs } = this.#options;
    try {
      if (!this.#isThere && (await this.#messages(timeoutMs)) === undefined) return undefined;
      return await this.#newest(this.#subjectOf(key));
    } catch (error) {
      this.#isThere = false;
      throw toThroughlineError(error, `reading ${key}`);
    }
  }

  /**
   * Compare and set: the only way to write. What `next` makes of what is stored is stored, unless another writer came first:
   * then it is asked again. Gives `undefined` where that is stored already, or is to stay.
   *
   * @param ttlMs how long the value stays, for a bucket with times to live: it is stored again although it is the same
   */
  async write(key: string, next: Next, ttlMs?: number): Promise<WrittenRecord | undefined> {
    const { timeoutMs } = this.#options;
    try {
      if (!this.#isThere && (await this.#messages(timeoutMs)) === undefined) {
        if (typeof next(undefined) !== 'object') return undefined;
        await this.#make();
      }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const subject = this.#subjectOf(key);
        const last = await this.#newest(subject);
        const value = next(last);
        // Another process has removed it, which nobody is told of.
        if (value === GONE && last === undefined) return { revision: Number.MAX_SAFE_INTEGER - 1, value };
        if (value === KEPT || (ttlMs === undefined && isStored(value, last))) return undefined;
        const revision =
          value === GONE
            ? await this.#purge(subject, last?.sequence ?? 0)
            : await this.#replace(subject, value, last?.sequence ?? 0, ttlMs);
        if (revision !== undefined) return { revision, value };
      }
    } catch (error) {
      // Perhaps it was deleted: the next write makes it again.
      this.#isThere = false;
      throw toThroughlineError(error, `recording ${key}`);
    }
    throw new ThroughlineError('conflict', `others keep writing ${key} of ${this.#kind.name}`);
  }

  /**
   * What is stored, as the leader of the stream has it. A replica may lag behind: no write would say so of a decision to keep
   * what is there, or to do nothing since nothing is there.
   */
  async #newest(subject: string): Promise<StreamMessage | undefined> {
    const jsm = await this.#manager(this.#options.timeoutMs);
    return newestStored(jsm, this.#stream, subject);
  }

  /** Removes what has this revision, and gives it; `undefined` when something else is stored by now. */
  async #purge(subject: string, last: number): Promise<number | undefined> {
    const jsm = await this.#manager(this.#options.timeoutMs);
    const { purged } = await jsm.streams.purge(this.#stream, { filter: subject, seq: last + 1 });
    return purged > 0 ? last : undefined;
  }

  /** The new revision; `undefined` when another writer came first. */
  async #replace(
    subject: string,
    value: object | undefined,
    last: number,
    ttlMs: number | undefined,
  ): Promise<number | undefined> {
    const headers = newHeaders();
    if (value === undefined) headers.set('KV-Operation', 'DEL');
    if (ttlMs !== undefined) headers.set('Nats-TTL', `${Math.ceil(ttlMs / 1000)}s`);
    try {
      const js = this.#connection.jetstream({ checkAPI: false, timeout: this.#options.timeoutMs });
      const { seq } = await js.publish(subject, value === undefined ? '' : JSON.stringify(value), {
        ...((value === undefined || ttlMs !== undefined) && { headers }),
        expect: { lastSubjectSequence: last },
      });
      return seq;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return undefined;
      if (!isNoResponders(error)) throw error;
      // The bucket was deleted.
      await this.#make();
      return undefined;
    }
  }

  /** How many messages it holds; `undefined` where there is no bucket. */
  async #messages(timeoutMs: number): Promise<number | undefined> {
    try {
      const { state } = await (await this.#manager(timeoutMs)).streams.info(this.#stream);
      this.#isThere = true;
      return state.messages;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw error;
    }
  }

  #subjectOf(key: string): string {
    return `$KV.${this.#kind.name}.${key}`;
  }

  /** Asking for the account's limits first, as the client does on its own, would need one more permission. */
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
      // Another process made it a moment before.
      if (apiCode(error) !== API.streamNameInUse) throw error;
    }
    this.#isThere = true;
  }
}

export function keyOf({ subject }: StreamMessage): string {
  return subject.slice(LIFECYCLE_PREFIX.length);
}

function isStored(value: object | undefined | typeof GONE, last: StreamMessage | undefined): boolean {
  if (value === GONE) return false;
  if (value === undefined) return last === undefined || isDeletion(last);
  return last !== undefined && Buffer.from(last.data).toString() === JSON.stringify(value);
}
