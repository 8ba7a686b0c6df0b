import {
  AckPolicy,
  ConsumerEvents,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  nanos,
} from 'nats';
import { DISPATCH_STREAM } from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import type { DispatchConsumption, DispatchDelivery, DispatchSource } from '../ports/dispatch-source.js';
import type { Logger } from '../ports/logger.js';
import type { AckedPublisher } from './acked-publisher.js';
import { API, apiCode, toThroughlineError } from './errors.js';
import { ensureDispatchStream, type TopologyOptions } from './topology.js';

/**
 * Dispatches by a durable pull consumer that all workers of one kind share.
 *
 * A consumer that is deleted leaves the client's iterator silent for ever; only its status tells. So each
 * consumption is supervised: when the status says that stream or consumer are gone, both are made again, with
 * growing pauses, and consuming goes on. What was not acknowledged is then delivered once more.
 */
export interface DispatchSourceOptions extends TopologyOptions {
  /** The durable consumer that workers of one kind share. */
  readonly consumer: DispatchConsumer;
  readonly logger: Logger;
  /** Unacknowledged dispatches come again after this many milliseconds. */
  readonly ackWaitMs: number;
  /** Dispatches that one worker holds at a time. */
  readonly maxInHand: number;
  /** Dispatches in the hands of all workers together. */
  readonly maxAckPending: number;
}

export interface DispatchConsumer {
  readonly name: string;
  readonly description: string;
  /** Subjects that it delivers; all by default. */
  readonly filter?: string;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

export class NatsDispatchSource implements DispatchSource {
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #publisher: AckedPublisher;
  readonly #options: DispatchSourceOptions;

  constructor(
    js: JetStreamClient,
    jsm: JetStreamManager,
    publisher: AckedPublisher,
    options: DispatchSourceOptions,
  ) {
    this.#js = js;
    this.#jsm = jsm;
    this.#publisher = publisher;
    this.#options = options;
  }

  async publish(
    subject: string,
    body: Uint8Array,
    messageId?: string,
  ): Promise<{ readonly sequence: number }> {
    const options = messageId === undefined ? {} : { messageId };
    let published = await this.#publisher.publish(subject, body, options);
    if (published.outcome === 'no_stream') {
      await ensureDispatchStream(this.#jsm, this.#options);
      published = await this.#publisher.publish(subject, body, options);
    }
    if (published.outcome === 'stored') return { sequence: published.sequence };
    throw new ThroughlineError(
      'unavailable',
      `no stream takes ${subject}: stream ${DISPATCH_STREAM} is missing`,
    );
  }

  async consume(handler: (delivery: DispatchDelivery) => void): Promise<DispatchConsumption> {
    const run = { closed: false, messages: await this.#open(handler) };
    const supervised = this.#supervise(run, handler);
    return {
      close: async () => {
        run.closed = true;
        await run.messages.close();
        await supervised;
      },
    };
  }

  async #supervise(
    run: { closed: boolean; messages: ConsumerMessages },
    handler: (delivery: DispatchDelivery) => void,
  ) {
    while (!run.closed) {
      const lost = await this.#lossOf(run.messages);
      if (run.closed) return;
      this.#options.logger.warn(
        { consumer: this.#options.consumer.name, lost: lost ?? 'ended' },
        'the consumer is gone and will be made again',
      );
      await run.messages.close();
      // One that ends by itself has a reason that may not have passed yet.
      if (lost === undefined) await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS));
      run.messages = await this.#reopen(run, handler);
    }
  }

  /** Waits until the consumer is lost and says how, or gives `undefined` when it ended. */
  async #lossOf(messages: ConsumerMessages): Promise<string | undefined> {
    for await (const { type } of await messages.status()) {
      if (LOSSES.has(type)) return type;
      // A consumer that went with its stream says nothing: it just falls silent.
      if (type === ConsumerEvents.HeartbeatsMissed && (await this.#isGone())) return type;
    }
    return undefined;
  }

  async #isGone(): Promise<boolean> {
    try {
      await this.#jsm.consumers.info(DISPATCH_STREAM, this.#options.consumer.name);
      return false;
    } catch (error) {
      const code = apiCode(error);
      return code === API.consumerNotFound || code === API.streamNotFound;
    }
  }

  async #reopen(
    run: { closed: boolean; messages: ConsumerMessages },
    handler: (delivery: DispatchDelivery) => void,
  ): Promise<ConsumerMessages> {
    for (let pauseMs = FIRST_PAUSE_MS; !run.closed; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      try {
        const messages = await this.#open(handler);
        if (run.closed) await messages.close();
        return messages;
      } catch (error) {
        this.#options.logger.warn(
          { consumer: this.#options.consumer.name, err: error, againInMs: pauseMs },
          'the consumer cannot be made yet',
        );
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    return run.messages;
  }

  async #open(handler: (delivery: DispatchDelivery) => void): Promise<ConsumerMessages> {
    try {
      await ensureDispatchStream(this.#jsm, this.#options);
      await this.#ensureConsumer();
      const consumer = await this.#js.consumers.get(DISPATCH_STREAM, this.#options.consumer.name);
      return await consumer.consume({
        max_messages: this.#options.maxInHand,
        callback: (message) => handler(deliveryOf(message)),
      });
    } catch (error) {
      throw toThroughlineError(error, 'opening the dispatch consumer');
    }
  }

  async #ensureConsumer(): Promise<void> {
    const { name, description, filter } = this.#options.consumer;
    try {
      await this.#jsm.consumers.info(DISPATCH_STREAM, name);
    } catch (error) {
      if (apiCode(error) !== API.consumerNotFound) throw error;
      await this.#jsm.consumers.add(DISPATCH_STREAM, {
        durable_name: name,
        description,
        ...(filter !== undefined && { filter_subject: filter }),
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(this.#options.ackWaitMs),
        max_ack_pending: this.#options.maxAckPending,
        // No max_deliver: the worker itself rejects what keeps failing, so that it is never silently set aside.
        max_deliver: -1,
      });
    }
  }
}

const LOSSES: ReadonlySet<string> = new Set([
  ConsumerEvents.ConsumerDeleted,
  ConsumerEvents.ConsumerNotFound,
  ConsumerEvents.StreamNotFound,
]);

function deliveryOf(message: JsMsg): DispatchDelivery {
  const { info } = message;
  return {
    subject: message.subject,
    body: message.data,
    sequence: message.seq,
    at: new Date(Math.floor(info.timestampNanos / 1_000_000)).toISOString(),
    delivery: info.deliveryCount,
    ack: () => message.ack(),
    nak: (delayMs) => message.nak(delayMs),
    term: (reason) => message.term(reason),
  };
}
