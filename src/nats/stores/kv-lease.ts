import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import { LEASE_BUCKET } from '../../contracts/names.js';
import type { Lease, LeaseClaim, LeaseReader, LeaseStore } from '../../engine/ports/lease-store.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { type BucketKind, type BucketOptions, GONE, KEPT, KvBucket } from './kv-bucket.js';

const LEASES: BucketKind = {
  name: LEASE_BUCKET,
  config: () => ({ allow_msg_ttl: true, description: 'Who works on what now; each ends by itself' }),
};
const lease = z.object({ holder: z.string(), since: z.string() });

/** Leases in the bucket `session_leases`. The server expires them. */
export class KvLease implements LeaseStore, LeaseReader {
  readonly #bucket: KvBucket;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#bucket = new KvBucket(connection, options, LEASES);
  }

  async claim(key: string, { holder, ttlMs, at, ended = [] }: LeaseClaim): Promise<Lease> {
    let held: Lease = { holder, since: at };
    const next = (last: StreamMessage | undefined) => {
      const there = leaseIn(last);
      const isTaken = there !== undefined && there.holder !== holder && !ended.includes(there.holder);
      held = isTaken || there?.holder === holder ? there : { holder, since: at };
      return isTaken ? KEPT : held;
    };
    await this.#bucket.write(key, next, ttlMs);
    return held;
  }

  async read(key: string): Promise<Lease | undefined> {
    let held: Lease | undefined;
    await this.#bucket.write(key, (last) => {
      held = leaseIn(last);
      return KEPT;
    });
    return held;
  }

  async release(key: string, holder: string): Promise<void> {
    let isAsked = false;
    await this.#bucket.write(key, (last) => {
      // A later claim wins, even by the same holder.
      const isGiven = !isAsked && leaseIn(last)?.holder === holder;
      isAsked = true;
      return isGiven ? GONE : KEPT;
    });
  }
}

/** Returns undefined for a free lease or an invalid value. */
function leaseIn(message: StreamMessage | undefined): Lease | undefined {
  return message?.foreign === undefined && message !== undefined
    ? lease.safeParse(jsonOf(message.data)).data
    : undefined;
}
