import {
  DiscardPolicy,
  type NatsConnection,
  headers as newHeaders,
  StorageType,
  type StreamConfig,
} from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { LEASE_BUCKET } from '../../contracts/names.js';
import type { Lease, LeaseClaim, LeaseStore } from '../../ports/lease-store.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { newestStored } from '../jetstream/newest-message.js';
import type { BucketOptions } from './lifecycle-bucket.js';

const LEASE_STREAM = `KV_${LEASE_BUCKET}`;
const MAX_ATTEMPTS = 20;
const lease = z.object({ holder: z.string(), since: z.string() });

/** Leases in the bucket `session_leases`, made with the first one. The server removes each when its time to live has passed. */
export class KvLease implements LeaseStore {
  readonly #connection: NatsConnection;
  readonly #options: BucketOptions;
  #isThere = false;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async claim(key: string, { holder, ttlMs, at, ended = [] }: LeaseClaim): Promise<Lease> {
    try {
      // Where someone listens to everything, a publish without a bucket is not answered at all.
      if (!this.#isThere) await this.#make();
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const last = await this.#newest(key);
        const there = leaseIn(last);
        if (there !== undefined && there.holder !== holder && !ended.includes(there.holder)) return there;
        const mine = { holder, since: there?.holder === holder ? there.since : at };
        if (await this.#put(key, mine, ttlMs, last?.sequence ?? 0)) return mine;
      }
    } catch (error) {
      // Perhaps it was deleted: the next claim makes it again.
      this.#isThere = false;
      throw toThroughlineError(error, `claiming the lease ${key}`);
    }
    throw new ThroughlineError('unavailable', `others keep claiming the lease ${key}`);
  }

  async release(key: string, holder: string): Promise<void> {
    try {
      const last = await this.#newest(key);
      if (last === undefined || leaseIn(last)?.holder !== holder) return;
      const jsm = await this.#manager();
      // Nothing that was written after it is removed.
      await jsm.streams.purge(LEASE_STREAM, { filter: last.subject, seq: last.sequence + 1 });
    } catch (error) {
      throw toThroughlineError(error, `releasing the lease ${key}`);
    }
  }

  /** Compare-and-set; false if another claimant came first. */
  async #put(key: string, value: Lease, ttlMs: number, last: number): Promise<boolean> {
    const headers = newHeaders();
    headers.set('Nats-TTL', `${Math.ceil(ttlMs / 1000)}s`);
    try {
      const js = this.#connection.jetstream({ checkAPI: false, timeout: this.#options.timeoutMs });
      const expect = { lastSubjectSequence: last };
      await js.publish(subjectOf(key), JSON.stringify(value), { headers, expect });
      return true;
    } catch (error) {
      if (apiCode(error) === API.wrongLastSequence) return false;
      if (!isNoResponders(error)) throw error;
      await this.#make();
      return false;
    }
  }

  /** Asks the leader of the stream: a replica may lag behind. */
  async #newest(key: string): Promise<StreamMessage | undefined> {
    return newestStored(await this.#manager(), LEASE_STREAM, subjectOf(key));
  }

  #manager() {
    return this.#connection.jetstreamManager({ timeout: this.#options.timeoutMs, checkAPI: false });
  }

  async #make(): Promise<void> {
    // The client's type does not have times to live.
    const config: Partial<StreamConfig> & { readonly allow_msg_ttl: true } = {
      name: LEASE_STREAM,
      subjects: [subjectOf('>')],
      max_msgs_per_subject: 1,
      storage: StorageType.File,
      num_replicas: this.#options.replicas,
      discard: DiscardPolicy.New,
      allow_direct: true,
      allow_rollup_hdrs: true,
      allow_msg_ttl: true,
      description: 'Who works on what now; each ends by itself',
    };
    try {
      await (await this.#manager()).streams.add(config);
    } catch (error) {
      // Another process made it a moment before.
      if (apiCode(error) !== API.streamNameInUse) throw error;
    }
    this.#isThere = true;
  }
}

function subjectOf(key: string): string {
  return `$KV.${LEASE_BUCKET}.${key}`;
}

/** Undefined for a free lease, and for a value that is none. */
function leaseIn(message: StreamMessage | undefined): Lease | undefined {
  return message?.foreign === undefined && message !== undefined
    ? lease.safeParse(jsonOf(message.data)).data
    : undefined;
}
