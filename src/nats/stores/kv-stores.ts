import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { NO_RULES, type RetentionRules, retentionRules } from '../../contracts/lifecycle-record.js';
import { LEASE_BUCKET, LIFECYCLE_BUCKET, RETENTION_KEY } from '../../contracts/names.js';
import type { Lease, LeaseClaim, LeaseStore } from '../../engine/ports/lease-store.js';
import { type StreamMessage, valueIn } from '../jetstream/direct-get.js';
import {
  type BucketKind,
  type BucketOptions,
  GONE,
  isDeletion,
  KEPT,
  KvBucket,
  LIFECYCLE,
} from './kv-bucket.js';

const LEASES: BucketKind = {
  name: LEASE_BUCKET,
  config: () => ({ allow_msg_ttl: true, description: 'Who works on what now; each ends by itself' }),
};
const lease = z.object({ holder: z.string(), since: z.string(), renewed: z.string().exactOptional() });

/** Leases in the bucket `session_leases`. The server expires them. */
export function leaseStore(connection: NatsConnection, options: BucketOptions) {
  const bucket = new KvBucket(connection, options, LEASES);
  return {
    async claim(key: string, { holder, ttlMs, at, ended = [] }: LeaseClaim): Promise<Lease> {
      let current: Lease = { holder, since: at };
      const next = (last: StreamMessage | undefined) => {
        const there = valueIn(lease, last);
        if (there?.holder === holder) current = { ...there, renewed: at };
        else if (there === undefined || ended.includes(there.holder)) current = { holder, since: at };
        else {
          current = there;
          return KEPT;
        }
        return current;
      };
      await bucket.write(key, next, () => ttlMs);
      return current;
    },
    /** Returns the lease as it is held; undefined if it is free. */
    async read(key: string): Promise<Lease | undefined> {
      return valueIn(lease, await bucket.get(key));
    },
    async release(key: string, holder: string): Promise<void> {
      let isTried = false;
      await bucket.write(key, (last) => {
        // A later claim wins, even by the same holder.
        const isGiven = !isTried && valueIn(lease, last)?.holder === holder;
        isTried = true;
        return isGiven ? GONE : KEPT;
      });
    },
  } satisfies LeaseStore & { read(key: string): Promise<Lease | undefined> };
}

/**
 * The retention rules, a key in the bucket `session_lifecycle`. Both throw ThroughlineError `unavailable`, `permission_denied`,
 * or `config_invalid` for rules of a newer version.
 */
export function retentionStore(bucket: KvBucket) {
  return {
    rules: async () => rulesIn(await bucket.get(RETENTION_KEY)),
    /** Replaces the rules by `next(before)`, by compare-and-set; an error of `next` cancels the change. */
    async changeRules(next: (before: RetentionRules) => RetentionRules): Promise<RetentionRules> {
      let after = NO_RULES;
      await bucket.write(RETENTION_KEY, (stored) => {
        after = next(rulesIn(stored));
        return after;
      });
      return after;
    },
  };
}

function rulesIn(message: StreamMessage | undefined): RetentionRules {
  if (message === undefined || isDeletion(message)) return NO_RULES;
  const rules = valueIn(retentionRules, message);
  if (rules !== undefined) return rules;
  throw new ThroughlineError(
    'config_invalid',
    `the key ${RETENTION_KEY} of bucket ${LIFECYCLE_BUCKET} does not hold rules that this version knows: update throughline to the version of the services, or have an administrator remove it with "nats kv del ${LIFECYCLE_BUCKET} ${RETENTION_KEY}"`,
  );
}

const KEY = 'dispatches';
const mark = z.object({ v: z.literal(1), highest: z.int().nonnegative() });

/**
 * The high-water mark of dispatch numbers, under `dispatches` in the bucket `session_lifecycle`.
 *
 * Sessions identify a result by its number. If `DISPATCH` gave a number twice, the second result would count as a duplicate. So
 * a missing stream is created above the mark, and services refuse to start on a stream below it: it was restored alone.
 */
export function dispatchNumbers(connection: NatsConnection, options: BucketOptions) {
  const bucket = new KvBucket(connection, options, { ...LIFECYCLE, reads: 'any' });
  return {
    /** Returns the mark, or `undefined` in a new installation. */
    highest: async () => valueIn(mark, await bucket.get(KEY))?.highest,
    /** Raises the mark to a number that `DISPATCH` has given; it never goes down. */
    async record(number: number): Promise<void> {
      await bucket.write(KEY, (last) =>
        (valueIn(mark, last)?.highest ?? -1) >= number ? KEPT : { v: 1, highest: number },
      );
    },
  };
}
