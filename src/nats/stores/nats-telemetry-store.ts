import type { NatsConnection } from 'nats';
import {
  noTelemetry,
  type StoredTelemetry,
  storedTelemetry,
  type TelemetryBatch,
  withBatch,
} from '../../contracts/compile-request.js';
import { jsonOf } from '../../contracts/event.js';
import { TELEMETRY_BUCKET, type Token } from '../../contracts/names.js';
import type { TelemetryStore } from '../../engine/ports/telemetry-store.js';
import type { StreamMessage } from '../jetstream/direct-get.js';
import { type BucketKind, type BucketOptions, KEPT, KvBucket } from './kv-bucket.js';

const BUCKET: BucketKind = {
  name: TELEMETRY_BUCKET,
  reads: 'any',
  config: () => ({ deny_delete: true, description: 'What compilers have counted of each session' }),
};

/** Telemetry in the bucket `session_telemetry`: a key per session, JSON on one line. */
export class NatsTelemetryStore implements TelemetryStore {
  readonly #bucket: KvBucket;

  constructor(connection: NatsConnection, options: BucketOptions) {
    this.#bucket = new KvBucket(connection, options, BUCKET);
  }

  async load(session: Token): Promise<StoredTelemetry | undefined> {
    return telemetryIn(await this.#bucket.get(session));
  }

  async add(session: Token, writer: string, batch: TelemetryBatch): Promise<void> {
    await this.#bucket.write(session, (last) => {
      const stored = telemetryIn(last) ?? noTelemetry();
      const next = withBatch(stored, writer, batch);
      return next === stored ? KEPT : next;
    });
  }
}

/** Returns the telemetry in a message; `undefined` for a foreign message, a deleted key or an invalid value. */
function telemetryIn(message: StreamMessage | undefined): StoredTelemetry | undefined {
  if (message === undefined || message.foreign !== undefined) return undefined;
  return storedTelemetry.safeParse(jsonOf(message.data)).data;
}
