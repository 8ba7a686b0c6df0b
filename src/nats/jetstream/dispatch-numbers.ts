import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { jsonOf } from '../../contracts/event.js';
import { type BucketOptions, KEPT, KvBucket, LIFECYCLE } from '../stores/kv-bucket.js';
import type { StreamMessage } from './direct-get.js';

const KEY = 'dispatches';
const mark = z.object({ v: z.literal(1), highest: z.int().nonnegative() });

/**
 * The high-water mark of dispatch numbers, under `dispatches` in the bucket `session_lifecycle`.
 *
 * Sessions identify a result by its number. If `DISPATCH` gave a number twice, the second result would count as a duplicate. So
 * a missing stream is created above the mark, and services refuse to start on a stream below it: it was restored alone.
 */
export class DispatchNumbers {
  readonly #bucket: KvBucket;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#bucket = new KvBucket(connection, options, { ...LIFECYCLE, reads: 'any' });
  }

  /** Returns the mark, or `undefined` in a new installation. */
  async highest(): Promise<number | undefined> {
    return highestIn(await this.#bucket.get(KEY));
  }

  /** Raises the mark to a number that `DISPATCH` has given; it never goes down. */
  async record(number: number): Promise<void> {
    await this.#bucket.write(KEY, (last) =>
      (highestIn(last) ?? -1) >= number ? KEPT : { v: 1, highest: number },
    );
  }
}

function highestIn(message: StreamMessage | undefined): number | undefined {
  if (message === undefined || message.foreign !== undefined) return undefined;
  return mark.safeParse(jsonOf(message.data)).data?.highest;
}
