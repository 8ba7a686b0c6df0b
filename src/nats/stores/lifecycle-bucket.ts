import { DiscardPolicy, type NatsConnection, headers as newHeaders, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { LIFECYCLE_BUCKET } from '../../contracts/names.js';
import type { Logger } from '../../ports/logger.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, readStream, type StreamMessage } from '../jetstream/direct-get.js';
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

export interface WrittenRecord {
  readonly revision: number;
  /** None where the key was deleted. */
  readonly value: object | undefined;
}

/** The bucket `session_lifecycle`, made with the first record. */
export class LifecycleBucket {
  readonly #connection: NatsConnection;
  readonly #options: BucketOptions;
  #isThere = false;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#connection = connection;
    this.#options = options;
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
      const messages = await readStream(this.#connection, LIFECYCLE_STREAM, '>', range, timeoutMs);
      // A server that has just started finds its streams a moment before it reads from them.
      if (after !== undefined || messages.length >= expected) return messages;
      throw new ThroughlineError('unavailable', `${LIFECYCLE_STREAM} was not read whole`);
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
      return await readLast(this.#connection, LIFECYCLE_STREAM, LIFECYCLE_PREFIX + key, timeoutMs);
    } catch (error) {
      this.#isThere = false;
      throw toThroughlineError(error, `reading ${key}`);
    }
  }

  /**
   * Compare and set; `undefined` deletes the key. Gives `undefined` where that is stored already, or is to stay.
   *
   * @param onRead takes in what is stored under the key, before `next` is asked
   */
  async write(
    key: string,
    next: () => object | undefined | typeof KEPT,
    onRead: (message: StreamMessage) => void,
  ): Promise<WrittenRecord | undefined> {
    const { timeoutMs } = this.#options;
    try {
      if (!this.#isThere && (await this.#messages(timeoutMs)) === undefined) {
        const first = next();
        if (first === undefined || first === KEPT) return undefined;
        await this.#make();
      }
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const subject = LIFECYCLE_PREFIX + key;
        const last = await readLast(this.#connection, LIFECYCLE_STREAM, subject, timeoutMs);
        if (last !== undefined) onRead(last);
        const value = next();
        if (value === KEPT || isStored(value, last)) return undefined;
        const revision = await this.#replace(subject, value, last?.sequence ?? 0);
        if (revision !== undefined) return { revision, value };
      }
    } catch (error) {
      // Perhaps it was deleted: the next write makes it again.
      this.#isThere = false;
      throw toThroughlineError(error, `recording ${key}`);
    }
    throw new ThroughlineError('conflict', `others keep writing ${key} of ${LIFECYCLE_BUCKET}`);
  }

  /** Removes a key without a trace. */
  async purge(key: string): Promise<void> {
    try {
      const jsm = await this.#manager(this.#options.timeoutMs);
      await jsm.streams.purge(LIFECYCLE_STREAM, { filter: LIFECYCLE_PREFIX + key });
    } catch (error) {
      throw toThroughlineError(error, `removing ${key}`);
    }
  }

  /** The new revision; `undefined` when another writer came first. */
  async #replace(subject: string, value: object | undefined, last: number): Promise<number | undefined> {
    const headers = newHeaders();
    if (value === undefined) headers.set('KV-Operation', 'DEL');
    try {
      const js = this.#connection.jetstream({ checkAPI: false, timeout: this.#options.timeoutMs });
      const { seq } = await js.publish(subject, value === undefined ? '' : JSON.stringify(value), {
        ...(value === undefined && { headers }),
        expect: { lastSubjectSequence: last },
      });
      return seq;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return undefined;
      throw error;
    }
  }

  /** How many messages it holds; `undefined` where there is no bucket. */
  async #messages(timeoutMs: number): Promise<number | undefined> {
    try {
      const { state } = await (await this.#manager(timeoutMs)).streams.info(LIFECYCLE_STREAM);
      this.#isThere = true;
      return state.messages;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return undefined;
      throw error;
    }
  }

  /** Asking for the account's limits first, as the client does on its own, would need one more permission. */
  #manager(timeout: number) {
    return this.#connection.jetstreamManager({ timeout, checkAPI: false });
  }

  async #make(): Promise<void> {
    try {
      const jsm = await this.#manager(this.#options.timeoutMs);
      await jsm.streams.add({
        name: LIFECYCLE_STREAM,
        subjects: [`${LIFECYCLE_PREFIX}>`],
        max_msgs_per_subject: 1,
        storage: StorageType.File,
        num_replicas: this.#options.replicas,
        discard: DiscardPolicy.New,
        allow_direct: true,
        allow_rollup_hdrs: true,
        deny_delete: true,
        description: 'Archived and forgotten sessions, and how long things are kept',
        // Those who have read a bucket before this one ask for what is newer.
        first_seq: Date.now() * 1000,
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

function isStored(value: object | undefined, last: StreamMessage | undefined): boolean {
  if (value === undefined) return last === undefined || isDeletion(last);
  return last !== undefined && Buffer.from(last.data).toString() === JSON.stringify(value);
}
