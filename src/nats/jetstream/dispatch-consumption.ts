import type { Msg, NatsConnection } from 'nats';
import { codeOf } from '../../contracts/errors.js';
import type { DispatchConsumption } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger.js';
import { Backoff } from '../../engine/runtime/pauses.js';
import { withinDeadline } from '../../shared/deadline.js';
import { onReconnect } from '../connection/connection-states.js';
import { type DeliveredBy, NatsDelivery } from './dispatch-delivery.js';
import { HEARTBEAT_MS, PullLane } from './pull-lane.js';

/**
 * Consumes a pull consumer with two pull requests, so that one is answered while the other is in flight.
 *
 * A deleted consumer is created again with backoff; unacknowledged dispatches are then redelivered. Messages held are limited
 * by bytes as well as by number: no more bodies are fetched while the log rejects events.
 */
interface ConsumptionOptions {
  readonly connection: NatsConnection;
  readonly logger: Logger;
  readonly stream: string;
  readonly consumer: string;
  /** Maximum number of messages per request. */
  readonly batch: number;
  /** Backpressure: returns true if the handler has capacity. */
  readonly hasCapacity: () => boolean;
  readonly handler: (delivery: NatsDelivery) => void;
  /** Creates the consumer if it is missing; returns its creation time in milliseconds since 1970. */
  readonly ensure: () => Promise<number>;
  /** Returns the consumer's creation time in milliseconds since 1970; `undefined` if it is missing. */
  readonly find: () => Promise<number | undefined>;
}

/** Messages per request: enough to hide the pause between requests. */
const BATCH = 500;
/** Size of subject and reply besides the largest message. */
const ENVELOPE_BYTES = 16 * 1024;
/** Bytes held above which nothing more is fetched. */
const MAX_BYTES_IN_HAND = 32 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
/** Longest wait for messages in flight; a lost server sends none. */
const DRAIN_MS = 1000;

export class NatsConsumption implements DispatchConsumption {
  readonly #options: ConsumptionOptions;
  readonly #closing = new AbortController();
  readonly #deliveredBy: DeliveredBy & { madeAt: number };
  #bytesInHand = 0;
  #isBeginning = false;
  #lanes: readonly PullLane[] = [];
  readonly #watch: NodeJS.Timeout;
  readonly #unwatch: () => void;

  /** @throws ThroughlineError if the consumer cannot be created */
  static async open(options: ConsumptionOptions): Promise<NatsConsumption> {
    return new NatsConsumption(options, await options.ensure());
  }

  private constructor(options: ConsumptionOptions, madeAt: number) {
    this.#options = options;
    this.#deliveredBy = { connection: options.connection, madeAt, onSettled: this.#settled };
    this.#begin();
    this.#watch = setInterval(() => this.#look(), HEARTBEAT_MS);
    this.#unwatch = onReconnect(options.connection, () => this.#beginSlowly());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watch);
    this.#unwatch();
    // Otherwise messages in flight would be redelivered only after the ack wait.
    const drained = Promise.all(this.#lanes.map((lane) => lane.drain())).catch(() => {});
    await withinDeadline(DRAIN_MS, drained);
    for (const lane of this.#lanes) lane.close();
  }

  #begin(): void {
    const { connection, stream, consumer, hasCapacity } = this.#options;
    const batch = Math.min(BATCH, this.#options.batch);
    // Allows the largest message: a server that buffers less per connection could not deliver it. The limit may change with
    // a reconnect.
    const maxBytes = () => (connection.info?.max_payload ?? 1024 * 1024) + ENVELOPE_BYTES;
    const options = {
      connection,
      stream,
      consumer,
      batch,
      maxBytes,
      hasCapacity: () => this.#bytesInHand < MAX_BYTES_IN_HAND && hasCapacity(),
      onMessage: (message: Msg) => this.#handOn(message),
      onLost: (why: string) => void this.#beginAgain(why),
      onRefused: (why: string) =>
        this.#options.logger.warn(
          { code: 'unavailable', consumer, why },
          'a request for dispatches was refused and is made again',
        ),
    };
    // Different sizes keep them from running dry at the same time.
    this.#lanes = [1, 3].map((firstBatch) => new PullLane({ ...options, firstBatch }));
    this.#lanes[0]?.pull();
  }

  /**
   * Slow start: one lane requests a single message; the other joins when something was settled. A process that was disconnected
   * as a slow consumer would otherwise be disconnected again and again.
   */
  #beginSlowly(): void {
    for (const lane of this.#lanes) lane.reset();
    this.#lanes[0]?.pull();
  }

  #handOn(message: Msg): void {
    const delivery = NatsDelivery.of(message, this.#deliveredBy);
    if (delivery === undefined) return;
    this.#bytesInHand += delivery.body.length;
    this.#options.handler(delivery);
  }

  readonly #settled = ({ body }: NatsDelivery): void => {
    this.#bytesInHand -= body.length;
    for (const lane of this.#lanes) lane.pull();
  };

  /** Detects a consumer that vanished with its stream, or a request lost with its node: neither is reported. */
  #look(): void {
    if (!this.#lanes.some((lane) => lane.isSilent())) return;
    this.#options.find().then(
      (madeAt) => {
        if (madeAt === undefined) {
          void this.#beginAgain('no heartbeats');
          return;
        }
        // Another process may have created it again.
        this.#deliveredBy.madeAt = madeAt;
        for (const lane of this.#lanes) if (lane.isSilent()) lane.renew();
      },
      () => {},
    );
  }

  async #beginAgain(lost: string): Promise<void> {
    const { logger, consumer, ensure } = this.#options;
    const { signal } = this.#closing;
    if (this.#isBeginning || signal.aborted) return;
    this.#isBeginning = true;
    logger.warn({ code: 'unavailable', consumer, lost }, 'the consumer is gone and will be created again');
    for (const lane of this.#lanes) lane.close();
    for (const backoff = new Backoff(FIRST_PAUSE_MS); this.#isBeginning; ) {
      await backoff.pause(signal);
      if (signal.aborted) return;
      try {
        this.#deliveredBy.madeAt = await ensure();
        if (!signal.aborted) this.#begin();
        this.#isBeginning = false;
      } catch (error) {
        logger.warn(
          { code: codeOf(error), consumer, err: error, againInMs: backoff.nextMs },
          'the consumer cannot be created yet',
        );
      }
    }
  }
}
