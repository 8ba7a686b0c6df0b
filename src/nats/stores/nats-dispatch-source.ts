import { AckPolicy, nanos } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../contracts/names.js';
import type {
  DispatchConsumption,
  DispatchDelivery,
  DispatchSource,
} from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { NatsConsumption } from '../jetstream/dispatch-consumption.js';
import { ensureDispatchStream, type HighWaterMark, type StorePorts } from '../jetstream/topology.js';

interface DispatchSourcePorts extends StorePorts {
  readonly logger: Logger;
  readonly numbers: HighWaterMark;
  readonly ackWaitMs: number;
  /** Dispatches that one worker fetches at a time. */
  readonly maxInHand: number;
}

/** Not bounded by the server, which would count nak'ed messages too: each worker limits itself. */
const UNBOUNDED = -1;

export class NatsDispatchSource implements DispatchSource {
  readonly #ports: DispatchSourcePorts;

  constructor(ports: DispatchSourcePorts) {
    this.#ports = ports;
  }

  async publish(
    subject: string,
    body: Uint8Array,
    messageId?: string,
  ): Promise<{ readonly sequence: number }> {
    const options = { stream: DISPATCH_STREAM, ...(messageId !== undefined && { messageId }) };
    let published = await this.#ports.publisher.publish(subject, body, options);
    if (published.outcome === 'no_stream') {
      await this.#ensureStream();
      published = await this.#ports.publisher.publish(subject, body, options);
    }
    if (published.outcome === 'stored') return { sequence: published.sequence };
    throw new ThroughlineError(
      'unavailable',
      `no stream takes ${subject}: stream ${DISPATCH_STREAM} is missing`,
    );
  }

  #ensureStream(): Promise<void> {
    return ensureDispatchStream(this.#ports.jsm, this.#ports, this.#ports.numbers);
  }

  /** Returns the sequence of the newest dispatch, at least as new as all stored before the call; 0 for none. */
  async newest(): Promise<number> {
    try {
      return (await this.#ports.jsm.streams.info(DISPATCH_STREAM)).state.last_seq;
    } catch (error) {
      throw toThroughlineError(error, 'asking for the newest dispatch');
    }
  }

  /** Returns the number of stored dispatches, of undelivered ones, and of those in progress in all extractors. */
  async backlog(): Promise<{ readonly stored: number; readonly waiting: number; readonly inHand: number }> {
    const { streams, consumers } = this.#ports.jsm;
    const [stream, consumer] = await Promise.all([
      ifExists(streams.info(DISPATCH_STREAM), 'counting dispatches'),
      ifExists(consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER), 'asking for the extractor consumer'),
    ]);
    return {
      stored: stream?.state.messages ?? 0,
      waiting: consumer?.num_pending ?? 0,
      inHand: consumer?.num_ack_pending ?? 0,
    };
  }

  async consume(
    handler: (delivery: DispatchDelivery) => void,
    hasCapacity: () => boolean = () => true,
  ): Promise<DispatchConsumption> {
    const { logger, maxInHand } = this.#ports;
    const ensure = async () => {
      await this.#ensureStream();
      await this.#ensureConsumer();
    };
    try {
      await ensure();
      const consumption = new NatsConsumption({
        connection: this.#ports.connection,
        stream: DISPATCH_STREAM,
        consumer: EXTRACTOR_CONSUMER,
        logger,
        batch: maxInHand,
        hasCapacity,
        handler,
        ensure,
        exists: async () => {
          const { consumers } = this.#ports.jsm;
          return (await ifExists(consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER))) !== undefined;
        },
      });
      return { close: () => consumption.close() };
    } catch (error) {
      throw toThroughlineError(error, 'opening the dispatch consumer');
    }
  }

  async #ensureConsumer(): Promise<void> {
    const { ackWaitMs } = this.#ports;
    try {
      const { config } = await this.#ports.jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
      // The last started worker's values apply to all.
      const wanted = { max_ack_pending: UNBOUNDED, ack_wait: nanos(ackWaitMs) };
      if (config.max_ack_pending !== wanted.max_ack_pending || config.ack_wait !== wanted.ack_wait) {
        await this.#ports.jsm.consumers.update(DISPATCH_STREAM, EXTRACTOR_CONSUMER, wanted);
      }
    } catch (error) {
      if (apiCode(error) !== API.consumerNotFound) throw error;
      await this.#ports.jsm.consumers.add(DISPATCH_STREAM, {
        durable_name: EXTRACTOR_CONSUMER,
        description: 'Dispatches that are not yet facts',
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        max_ack_pending: UNBOUNDED,
        // Unlimited: the worker itself rejects what keeps failing, so that nothing is dropped silently.
        max_deliver: -1,
      });
    }
  }
}
