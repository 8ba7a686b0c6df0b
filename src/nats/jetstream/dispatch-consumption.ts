import { Events, type Msg, type NatsConnection } from 'nats';
import { codeOf } from '../../contracts/errors.js';
import type { DispatchConsumption } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger.js';
import { Backoff } from '../../engine/runtime/pauses.js';
import { withinDeadline } from '../../shared/deadline.js';
import { type DeliveredBy, NatsDelivery } from './dispatch-delivery.js';
import { HEARTBEAT_MS, PullLane } from './pull-lane.js';

/**
 * One consumption of a pull consumer: two standing requests, so that one is answered while the other is on its way.
 *
 * A consumer that is deleted, or goes with its stream, is made again, with growing pauses; what was not acknowledged
 * is then delivered once more. What is in hand is bounded in bytes as well as in number: while the log takes no
 * events, no more bodies are asked for.
 */
interface ConsumptionOptions {
  readonly connection: NatsConnection;
  readonly logger: Logger;
  readonly stream: string;
  readonly consumer: string;
  /** Messages that one request asks for at most. */
  readonly batch: number;
  /** Whether the handler has room for more. */
  readonly hasRoom: () => boolean;
  readonly handler: (delivery: NatsDelivery) => void;
  /** Makes the consumer where it is missing, and says when it was made, in milliseconds since 1970. */
  readonly ensure: () => Promise<number>;
  /** When the consumer that is there was made, in milliseconds since 1970; `undefined` where there is none. */
  readonly find: () => Promise<number | undefined>;
}

/** Messages of one request: enough that the pause between two does not count. */
const BATCH = 500;
/** Room for subject and reply beside the largest message. */
const ENVELOPE_BYTES = 16 * 1024;
/** Bytes in hand above which no more are asked for. */
const MAX_BYTES_IN_HAND = 32 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
/** Longest wait for messages on their way; a server that is gone sends none. */
const DRAIN_MS = 1000;

export class NatsConsumption implements DispatchConsumption {
  readonly #options: ConsumptionOptions;
  readonly #closing = new AbortController();
  readonly #deliveredBy: DeliveredBy & { madeAt: number };
  #bytesInHand = 0;
  #isBeginning = false;
  #lanes: readonly PullLane[] = [];
  readonly #watch: NodeJS.Timeout;

  /** @throws ThroughlineError when the consumer cannot be made */
  static async open(options: ConsumptionOptions): Promise<NatsConsumption> {
    return new NatsConsumption(options, await options.ensure());
  }

  private constructor(options: ConsumptionOptions, madeAt: number) {
    this.#options = options;
    this.#deliveredBy = { connection: options.connection, madeAt, onSettled: this.#settled };
    this.#begin();
    this.#watch = setInterval(() => this.#look(), HEARTBEAT_MS);
    void this.#watchConnection();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watch);
    // Dispatches on their way when the pulling ends would otherwise come again only after the ack wait.
    const drained = Promise.all(this.#lanes.map((lane) => lane.drain())).catch(() => {});
    await withinDeadline(DRAIN_MS, drained);
    for (const lane of this.#lanes) lane.close();
  }

  #begin(): void {
    const { connection, stream, consumer, hasRoom } = this.#options;
    const batch = Math.min(BATCH, this.#options.batch);
    // Of the largest size: a server that keeps less for a connection could not deliver that. It may have another limit
    // when it comes back.
    const maxBytes = () => (connection.info?.max_payload ?? 1024 * 1024) + ENVELOPE_BYTES;
    const options = {
      connection,
      stream,
      consumer,
      batch,
      maxBytes,
      hasRoom: () => this.#bytesInHand < MAX_BYTES_IN_HAND && hasRoom(),
      onMessage: (message: Msg) => this.#handOn(message),
      onLost: (why: string) => void this.#beginAgain(why),
      onRefused: (why: string) =>
        this.#options.logger.warn(
          { code: 'unavailable', consumer, why },
          'a request for dispatches was refused and is made again',
        ),
    };
    // Begun with different sizes, they do not run dry at one time.
    this.#lanes = [1, 3].map((firstBatch) => new PullLane({ ...options, firstBatch }));
    this.#lanes[0]?.pull();
  }

  /**
   * One lane begins, with a single message. The other one joins when something has been dealt with. Otherwise a process
   * that was cut off for reading too slowly would be cut off again and again, and get nothing done.
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

  /** A consumer that went with its stream says nothing, and a request is lost with the node that had it. */
  #look(): void {
    if (!this.#lanes.some((lane) => lane.isSilent())) return;
    this.#options.find().then(
      (madeAt) => {
        if (madeAt === undefined) {
          void this.#beginAgain('no heartbeats');
          return;
        }
        // Another process may have made it again.
        this.#deliveredBy.madeAt = madeAt;
        for (const lane of this.#lanes) if (lane.isSilent()) lane.renew();
      },
      () => {},
    );
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#options.connection.status()) {
      if (this.#closing.signal.aborted) return;
      if (type === Events.Reconnect) this.#beginSlowly();
    }
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
