import type { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  NO_RULES,
  type RetentionRules,
  type RetentionRun,
  retentionRules,
  retentionRun,
} from '../../contracts/lifecycle-record.js';
import { LIFECYCLE_BUCKET, RETENTION_KEY, RETENTION_RUN_KEY } from '../../contracts/names.js';
import type { RetentionStore } from '../../engine/ports/session-lifecycle.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import type { KvBucket } from './kv-bucket.js';
import { isDeletion } from './nats-snapshot-store.js';

/** Two keys in the bucket `session_lifecycle`. */
export class NatsRetentionStore implements RetentionStore {
  readonly #bucket: KvBucket;

  constructor(bucket: KvBucket) {
    this.#bucket = bucket;
  }

  async rules(): Promise<RetentionRules> {
    return (await this.#get(RETENTION_KEY, retentionRules)) ?? NO_RULES;
  }

  async changeRules(next: (before: RetentionRules) => RetentionRules): Promise<RetentionRules> {
    let after = NO_RULES;
    await this.#bucket.write(RETENTION_KEY, (stored) => {
      const before = stored && recordIn(RETENTION_KEY, stored, retentionRules);
      after = next(before ?? NO_RULES);
      return before === undefined && after === NO_RULES ? undefined : after;
    });
    return after;
  }

  run(): Promise<RetentionRun | undefined> {
    return this.#get(RETENTION_RUN_KEY, retentionRun);
  }

  async saveRun(run: RetentionRun): Promise<void> {
    await this.#bucket.write(RETENTION_RUN_KEY, () => run);
  }

  async #get<Shape extends z.ZodType>(key: string, shape: Shape): Promise<z.output<Shape> | undefined> {
    const message = await this.#bucket.get(key);
    return message && recordIn(key, message, shape);
  }
}

function recordIn<Shape extends z.ZodType>(
  key: string,
  message: StreamMessage,
  shape: Shape,
): z.output<Shape> | undefined {
  if (isDeletion(message)) return undefined;
  const { data } = shape.safeParse(message.foreign === undefined ? jsonOf(message.data) : undefined);
  if (data !== undefined) return data;
  throw new ThroughlineError(
    'config_invalid',
    `the key ${key} of bucket ${LIFECYCLE_BUCKET} does not hold what this version knows: update throughline to the version of the services, or have an administrator remove it with "nats kv del ${LIFECYCLE_BUCKET} ${key}"`,
  );
}
