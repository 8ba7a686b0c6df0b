import { type KV, type NatsConnection, StorageType } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import { TELEMETRY_BUCKET, type Token } from '../../contracts/names.js';
import {
  noTelemetry,
  type StoredTelemetry,
  storedTelemetry,
  type TelemetryBatch,
  withBatch,
} from '../../contracts/session-telemetry.js';
import type { TelemetryStore } from '../../engine/ports/telemetry-store.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { readLast, type StreamMessage } from '../jetstream/direct-get.js';
import type { TopologyOptions } from '../jetstream/topology.js';

/** Attempts of compare-and-set; one writer succeeds in each round, and there are fewer compilers. */
const MAX_ATTEMPTS = 100;

/** Telemetry in the bucket `session_telemetry`: a key per session, JSON on one line. Created with the first write. */
export class NatsTelemetryStore implements TelemetryStore {
  readonly #connection: NatsConnection;
  readonly #options: TopologyOptions & { readonly timeoutMs: number };
  #bucket: Promise<KV> | undefined;
  #seen = false;

  constructor(connection: NatsConnection, options: TopologyOptions & { readonly timeoutMs: number }) {
    this.#connection = connection;
    this.#options = options;
  }

  async load(session: Token): Promise<StoredTelemetry | undefined> {
    try {
      if (!(await this.#isThere())) return undefined;
      const last = await this.#last(session);
      return last && telemetryIn(last);
    } catch (error) {
      // Deleted meanwhile.
      if (isNoResponders(error)) return undefined;
      throw toThroughlineError(error, `reading the telemetry of ${session}`);
    }
  }

  async add(session: Token, writer: string, batch: TelemetryBatch): Promise<void> {
    try {
      this.#bucket ??= this.#open();
      const bucket = await this.#bucket;
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const last = await this.#last(session);
        const stored = (last && telemetryIn(last)) ?? noTelemetry();
        const next = withBatch(stored, writer, batch);
        if (next === stored || (await replaced(bucket, session, next, last?.sequence ?? 0))) return;
      }
    } catch (error) {
      // The bucket may have been deleted: the next write opens it again.
      this.#bucket = undefined;
      throw toThroughlineError(error, `writing the telemetry of ${session}`);
    }
    throw new ThroughlineError('conflict', `others keep writing the telemetry of ${session}`);
  }

  /** If someone subscribes to everything, a read without a bucket gets no answer at all. */
  async #isThere(): Promise<boolean> {
    if (this.#seen) return true;
    const { timeoutMs: timeout } = this.#options;
    const jsm = await this.#connection.jetstreamManager({ checkAPI: false, timeout });
    try {
      await jsm.streams.info(`KV_${TELEMETRY_BUCKET}`);
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return false;
      throw error;
    }
    this.#seen = true;
    return true;
  }

  #last(session: Token): Promise<StreamMessage | undefined> {
    const subject = `$KV.${TELEMETRY_BUCKET}.${session}`;
    return readLast(this.#connection, `KV_${TELEMETRY_BUCKET}`, subject, this.#options.timeoutMs);
  }

  #open(): Promise<KV> {
    const { timeoutMs: timeout, replicas } = this.#options;
    // `checkAPI` would request the account's limits, which needs another permission.
    return this.#connection.jetstream({ checkAPI: false, timeout }).views.kv(TELEMETRY_BUCKET, {
      history: 1,
      storage: StorageType.File,
      replicas,
      description: 'What compilers have counted of each session',
    });
  }
}

/** Compare-and-set: `false` after a lost race. */
async function replaced(bucket: KV, session: Token, value: StoredTelemetry, last: number): Promise<boolean> {
  try {
    await bucket.put(session, JSON.stringify(value), { previousSeq: last });
    return true;
  } catch (error) {
    if (apiCode(error) === API.wrongLastSequence) return false;
    throw error;
  }
}

/** Returns the telemetry in a message; `undefined` for a foreign message, a deleted key or an invalid value. */
function telemetryIn({ data, foreign }: StreamMessage): StoredTelemetry | undefined {
  return foreign === undefined ? storedTelemetry.safeParse(jsonOf(data)).data : undefined;
}
