import { AckPolicy, nanos } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../contracts/names.js';
import type { DispatchDelivery, DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { defined } from '../../shared/collections.js';
import { failedWhile } from '../connection/failed-while.js';
import { API, apiCode, ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { NatsConsumption } from '../jetstream/dispatch-consumption.js';
import { ensureDispatchStream, type HighWaterMark, type StorePorts } from '../jetstream/topology.js';

interface DispatchSourcePorts extends StorePorts {
  readonly logger: Logger;
  readonly numbers: HighWaterMark;
  readonly ackWaitMs: number;
  readonly maxInHand: number;
}

export function dispatchSource(ports: DispatchSourcePorts) {
  const { jsm, publisher, connection, logger, numbers, maxInHand } = ports;
  const ensureStream = () => ensureDispatchStream(jsm, ports, numbers);
  const ensure = async () => {
    await ensureStream();
    await ensureConsumer(ports);
  };
  const consumer = () => jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
  const source = {
    async publish(subject: string, body: Uint8Array, messageId?: string) {
      const options = { stream: DISPATCH_STREAM, ...defined({ messageId }) };
      let published = await publisher.publish(subject, body, options);
      if (published.outcome === 'no_stream') {
        await ensureStream();
        published = await publisher.publish(subject, body, options);
      }
      if (published.outcome === 'stored') return { sequence: published.sequence };
      const missing = `no stream takes ${subject}: stream ${DISPATCH_STREAM} is missing`;
      throw new ThroughlineError('unavailable', missing);
    },

    /** Returns the sequence of the newest dispatch, at least as new as all stored before the call; 0 for none. */
    async newest(): Promise<number> {
      const asking = jsm.streams.info(DISPATCH_STREAM);
      return (await asking.catch(failedWhile('asking for the newest dispatch'))).state.last_seq;
    },

    /** Returns the number of stored dispatches, of undelivered ones, and of those in progress in all extractors. */
    async backlog() {
      const [stream, extractor] = await Promise.all([
        ifExists(jsm.streams.info(DISPATCH_STREAM), 'counting dispatches'),
        ifExists(consumer(), 'asking for the extractor consumer'),
      ]);
      return {
        stored: stream?.state.messages ?? 0,
        waiting: extractor?.num_pending ?? 0,
        inHand: extractor?.num_ack_pending ?? 0,
      };
    },

    async consume(handler: (delivery: DispatchDelivery) => void, hasCapacity = () => true) {
      try {
        await ensure();
        const consumption = new NatsConsumption({
          connection,
          stream: DISPATCH_STREAM,
          consumer: EXTRACTOR_CONSUMER,
          logger,
          batch: maxInHand,
          hasCapacity,
          handler,
          ensure,
          exists: async () => (await ifExists(consumer())) !== undefined,
        });
        return { close: () => consumption.close() };
      } catch (error) {
        throw toThroughlineError(error, 'opening the dispatch consumer');
      }
    },
  };
  return source satisfies DispatchSource;
}

async function ensureConsumer({ jsm, ackWaitMs }: DispatchSourcePorts): Promise<void> {
  // The last started worker's values apply to all. The server would count nak'ed messages too: each worker limits itself.
  const wanted = { max_ack_pending: -1, ack_wait: nanos(ackWaitMs) };
  try {
    const { config } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    if (config.max_ack_pending !== wanted.max_ack_pending || config.ack_wait !== wanted.ack_wait)
      await jsm.consumers.update(DISPATCH_STREAM, EXTRACTOR_CONSUMER, wanted);
  } catch (error) {
    if (apiCode(error) !== API.consumerNotFound) throw error;
    await jsm.consumers.add(DISPATCH_STREAM, {
      durable_name: EXTRACTOR_CONSUMER,
      description: 'Dispatches that are not yet facts',
      ack_policy: AckPolicy.Explicit,
      // Unlimited: the worker itself rejects what keeps failing, so that nothing is dropped silently.
      max_deliver: -1,
      ...wanted,
    });
  }
}
