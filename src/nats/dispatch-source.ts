import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  ConsumerEvents,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  nanos,
} from 'nats';
import { DISPATCH_STREAM } from '../contracts/names.js';
import { codeOf, ThroughlineError } from '../errors.js';
import type { DispatchConsumption, DispatchDelivery, DispatchSource } from '../ports/dispatch-source.js';
import type { Logger } from '../ports/logger.js';
import type { AckedPublisher } from './acked-publisher.js';
import { NatsDelivery } from './dispatch-delivery.js';
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
  /** Dispatches in the hands of all workers of the kind together: the server delivers no more. */
  readonly maxInHand: number;
}

export interface DispatchConsumer {
  readonly name: string;
  readonly description: string;
  /** Subjects that it delivers; all by default. */
  readonly filter?: string;
}

/** How long one request for dispatches stands. */
const PULL_MS = 10_000;
/** Requests go with the node that led the consumer; two missed heartbeats tell, and they are made again. */
const HEARTBEAT_MS = 2000;
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

  /** Dispatches that are still to be delivered, and those in the hands of all extractors together. */
  async backlog(): Promise<{ readonly waiting: number; readonly inHand: number }> {
    try {
      const info = await this.#jsm.consumers.info(DISPATCH_STREAM, this.#options.consumer.name);
      return { waiting: info.num_pending, inHand: info.num_ack_pending };
    } catch (error) {
      throw toThroughlineError(error, 'asking for the extractor consumer');
    }
  }

  async consume(handler: (delivery: DispatchDelivery) => void): Promise<DispatchConsumption> {
    const closing = new AbortController();
    const run: Run = { closing: closing.signal, closed: false, handler, messages: undefined };
    run.messages = await this.#open(run);
    void this.#supervise(run).catch((error: unknown) => {
      if (closing.signal.aborted) return;
      const { name } = this.#options.consumer;
      this.#options.logger.error(
        { code: codeOf(error), consumer: name, err: error },
        'the consumer is no longer watched',
      );
    });
    return {
      close: async () => {
        closing.abort();
        // What is on its way when the pulling ends would otherwise come again only after the ack wait.
        if (run.messages !== undefined) await drained(run.messages);
        run.closed = true;
        await run.messages?.close();
      },
    };
  }

  async #supervise(run: Run): Promise<void> {
    while (!run.closing.aborted && run.messages !== undefined) {
      const lost = await this.#lossOf(run.messages);
      if (run.closing.aborted) return;
      this.#options.logger.warn(
        { code: 'unavailable', consumer: this.#options.consumer.name, lost: lost ?? 'ended' },
        'the consumer is gone and will be made again',
      );
      await run.messages.close();
      // One that ends by itself has a reason that may not have passed yet.
      if (lost === undefined) await pause(FIRST_PAUSE_MS, run.closing);
      run.messages = await this.#reopen(run);
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

  async #reopen(run: Run): Promise<ConsumerMessages | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      if (run.closing.aborted) return undefined;
      try {
        const messages = await this.#open(run);
        if (!run.closing.aborted) return messages;
        await drained(messages);
        await messages.close();
      } catch (error) {
        this.#options.logger.warn(
          { code: codeOf(error), consumer: this.#options.consumer.name, err: error, againInMs: pauseMs },
          'the consumer cannot be made yet',
        );
        await pause(pauseMs, run.closing);
      }
    }
  }

  async #open(run: Run): Promise<ConsumerMessages> {
    try {
      await ensureDispatchStream(this.#jsm, this.#options);
      await this.#ensureConsumer();
      const consumer = await this.#js.consumers.get(DISPATCH_STREAM, this.#options.consumer.name);
      return await consumer.consume({
        max_messages: this.#options.maxInHand,
        expires: PULL_MS,
        idle_heartbeat: HEARTBEAT_MS,
        callback: (message) => (run.closed ? message.nak() : run.handler(new NatsDelivery(message))),
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
        max_ack_pending: this.#options.maxInHand,
        // No max_deliver: the worker itself rejects what keeps failing, so that it is never silently set aside.
        max_deliver: -1,
      });
    }
  }
}

/** One consumption. */
interface Run {
  /** Aborted when no further dispatches are wanted. */
  readonly closing: AbortSignal;
  /** Nothing is handed on any more. */
  closed: boolean;
  readonly handler: (delivery: DispatchDelivery) => void;
  messages: ConsumerMessages | undefined;
}

/** Longest wait for messages on their way; a server that is gone sends none. */
const DRAIN_MS = 1000;

/**
 * Ends the pulling, and waits until what the server had sent before has been handed on. The client has no call for
 * that: its `close` drops what is on its way. Draining the subscription beneath it does what is wanted.
 */
async function drained(messages: ConsumerMessages): Promise<void> {
  const sub: unknown = 'sub' in messages ? messages.sub : undefined;
  if (typeof sub !== 'object' || sub === null || !('drain' in sub) || typeof sub.drain !== 'function') return;
  const timeUp = new AbortController();
  const drain = Promise.resolve(sub.drain()).catch(() => {});
  await Promise.race([drain, pause(DRAIN_MS, timeUp.signal)]);
  timeUp.abort();
}

/** Waits, but no longer than until `signal` is given. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

const LOSSES: ReadonlySet<string> = new Set([
  ConsumerEvents.ConsumerDeleted,
  ConsumerEvents.ConsumerNotFound,
  ConsumerEvents.StreamNotFound,
]);
