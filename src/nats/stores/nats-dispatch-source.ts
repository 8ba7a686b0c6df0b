import { AckPolicy, nanos } from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/clients.js';
import type {
  DispatchConsumption,
  DispatchDelivery,
  DispatchSource,
} from '../../engine/ports/dispatch-source.js';
import { onReconnect } from '../connection/connection-states.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { NatsConsumption } from '../jetstream/dispatch-consumption.js';
import type { NatsDelivery } from '../jetstream/dispatch-delivery.js';
import { assertNumbers, highestKnown, type SeenDispatch } from '../jetstream/dispatch-numbers.js';
import { ensureDispatchStream, type StorePorts } from '../jetstream/topology.js';

interface DispatchSourcePorts extends StorePorts {
  readonly consumer: DispatchConsumer;
  readonly logger: Logger;
  readonly ackWaitMs: number;
  /** Dispatches that one worker fetches at a time. */
  readonly maxInHand: number;
}

export interface DispatchConsumer {
  readonly name: string;
  readonly description: string;
  /** Subjects that it delivers. Default: all. */
  readonly filter?: string;
  /**
   * True if the server limits the messages of all workers together to `maxInHand`. That includes nak'ed ones: a worker that
   * puts many back must limit itself.
   */
  readonly boundedByServer: boolean;
}

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
    return ensureDispatchStream(this.#ports.jsm, this.#ports, () => highestKnown(this.#ports));
  }

  async newest(): Promise<number> {
    try {
      return (await this.#ports.jsm.streams.info(DISPATCH_STREAM)).state.last_seq;
    } catch (error) {
      throw toThroughlineError(error, 'asking for the newest dispatch');
    }
  }

  /** Returns the number of undelivered dispatches, and of those in progress in all extractors. */
  async backlog(): Promise<{ readonly waiting: number; readonly inHand: number }> {
    try {
      const info = await this.#ports.jsm.consumers.info(DISPATCH_STREAM, this.#ports.consumer.name);
      return { waiting: info.num_pending, inHand: info.num_ack_pending };
    } catch (error) {
      throw toThroughlineError(error, 'asking for the extractor consumer');
    }
  }

  async consume(
    handler: (delivery: DispatchDelivery) => void,
    hasCapacity: () => boolean = () => true,
  ): Promise<DispatchConsumption> {
    const { consumer, logger, maxInHand } = this.#ports;
    const watch = new NumbersWatch(() => assertNumbers(this.#ports), logger);
    onReconnect(this.#ports.connection, () => watch.invalidate());
    try {
      const consumption = await NatsConsumption.open({
        connection: this.#ports.connection,
        stream: DISPATCH_STREAM,
        consumer: consumer.name,
        logger,
        batch: maxInHand,
        hasCapacity,
        handler: (delivery) => watch.admit(delivery, handler),
        ensure: async () => {
          await this.#ensureStream();
          await watch.check();
          return Date.parse(await this.#ensureConsumer());
        },
        find: () => this.#find(),
      });
      return { close: () => consumption.close() };
    } catch (error) {
      throw toThroughlineError(error, 'opening the dispatch consumer');
    }
  }

  async #find(): Promise<number | undefined> {
    const info = await ifExists(this.#ports.jsm.consumers.info(DISPATCH_STREAM, this.#ports.consumer.name));
    return info && Date.parse(info.created);
  }

  /** Returns the consumer's creation time. */
  async #ensureConsumer(): Promise<string> {
    const { ackWaitMs, maxInHand, consumer } = this.#ports;
    const { name, description, filter, boundedByServer } = consumer;
    const maxAckPending = boundedByServer ? maxInHand : UNBOUNDED;
    try {
      const { config, created } = await this.#ports.jsm.consumers.info(DISPATCH_STREAM, name);
      // The last started worker's values apply to all.
      const wanted = { max_ack_pending: maxAckPending, ack_wait: nanos(ackWaitMs) };
      if (config.max_ack_pending !== wanted.max_ack_pending || config.ack_wait !== wanted.ack_wait) {
        await this.#ports.jsm.consumers.update(DISPATCH_STREAM, name, wanted);
      }
      return created;
    } catch (error) {
      if (apiCode(error) !== API.consumerNotFound) throw error;
      const { created } = await this.#ports.jsm.consumers.add(DISPATCH_STREAM, {
        durable_name: name,
        description,
        ...(filter !== undefined && { filter_subject: filter }),
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        max_ack_pending: maxAckPending,
        // Unlimited: the worker itself rejects what keeps failing, so that nothing is dropped silently.
        max_deliver: -1,
      });
      return created;
    }
  }
}

/** Redelivery delay of a refused dispatch, in milliseconds. */
const AGAIN_MS = 5000;
const UNSEEN =
  'cannot check whether dispatch numbers are used again: give the user the permissions that "throughline admin permissions --role worker" prints';

/**
 * Holds dispatches back while the stream may reuse numbers that sessions have seen: after a reconnect, and for a dispatch that
 * is younger than one with a higher number, until a check succeeds.
 */
class NumbersWatch {
  readonly #assert: () => Promise<SeenDispatch | undefined>;
  readonly #logger: Logger;
  /** Highest sequence and latest time of all dispatches delivered or seen. */
  #highest = { sequence: 0, at: '' };
  #isSound = false;
  #checking: Promise<boolean> | undefined;

  /** @param assert throws if numbers are reused; else returns the highest dispatch seen */
  constructor(assert: () => Promise<SeenDispatch | undefined>, logger: Logger) {
    this.#assert = assert;
    this.#logger = logger;
  }

  /** Checks the numbers, unless the user may not list streams. Throws ThroughlineError `config_invalid` on reuse. */
  async check(): Promise<void> {
    this.#isSound = false;
    try {
      const seen = await this.#assert();
      if (seen !== undefined) this.#note(seen);
    } catch (err) {
      if (codeOf(err) !== 'permission_denied') throw err;
      this.#logger.warn({ code: codeOf(err), err }, UNSEEN);
    }
    this.#isSound = true;
  }

  /** Makes the next dispatches wait for a check. */
  invalidate(): void {
    this.#isSound = false;
  }

  /** Passes a dispatch on, immediately or after a successful check; otherwise requests redelivery. */
  admit<Delivery extends DispatchDelivery & Pick<NatsDelivery, 'isVoid'>>(
    delivery: Delivery,
    handler: (delivery: Delivery) => void,
  ): void {
    if (delivery.isVoid) {
      delivery.ack();
      return;
    }
    const { sequence, at } = this.#highest;
    const isSuspicious = delivery.sequence <= sequence && delivery.at > at;
    if (this.#isSound && !isSuspicious) {
      this.#note(delivery);
      handler(delivery);
      return;
    }
    this.#checking ??= this.#isChecked().finally(() => {
      this.#checking = undefined;
    });
    void this.#checking.then((isSound) => {
      if (isSound) {
        this.#note(delivery);
        handler(delivery);
      } else delivery.nak(AGAIN_MS);
    });
  }

  async #isChecked(): Promise<boolean> {
    try {
      await this.check();
      return true;
    } catch (err) {
      this.#logger.error({ code: codeOf(err), err }, 'dispatches are not consumed');
      return false;
    }
  }

  #note({ sequence, at }: { readonly sequence: number; readonly at: string }): void {
    if (sequence > this.#highest.sequence || at > this.#highest.at) {
      this.#highest = {
        sequence: Math.max(sequence, this.#highest.sequence),
        at: at > this.#highest.at ? at : this.#highest.at,
      };
    }
  }
}
