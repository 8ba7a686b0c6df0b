import type { JetStreamManager, NatsConnection } from 'nats';
import type { Logger } from '../ports/logger.js';
import { AckedPublisher } from './acked-publisher.js';
import { closeConnection, connectNats } from './connection.js';
import { NatsDispatchSource } from './dispatch-source.js';
import { NatsRejectedStore } from './rejected-store.js';
import { NatsSessionLog } from './session-log.js';
import { type NatsSnapshotStore, openSnapshotStore } from './snapshot-store.js';
import { ensureDispatchStream, ensureRejectedStream } from './topology.js';

/** One connection with all ports on it. */
export interface NatsPorts {
  readonly connection: NatsConnection;
  readonly log: NatsSessionLog;
  readonly snapshots: NatsSnapshotStore;
  readonly source: NatsDispatchSource;
  readonly rejected: NatsRejectedStore;
  /** Sends what is still to be sent, then closes. Consumers and services must have been stopped before. */
  close(): Promise<void>;
}

export interface NatsOptions {
  readonly url: string;
  readonly name: string;
  readonly logger: Logger;
  readonly replicas: number;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly ackWaitMs: number;
  readonly maxInHand: number;
  readonly maxAckPending: number;
}

/** Connects, and makes the streams and the bucket that are missing. */
export async function openNats(options: NatsOptions): Promise<NatsPorts> {
  const { logger, replicas, requestTimeoutMs: timeoutMs, ackWaitMs, maxInHand, maxAckPending } = options;
  const connection = await connectNats(options);
  try {
    // The account was checked on connecting; the client's own check would cost one more round trip.
    const jsm: JetStreamManager = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    await ensureDispatchStream(jsm, { replicas });
    await ensureRejectedStream(jsm, { replicas });
    const snapshots = await openSnapshotStore(connection, { replicas });
    const publisher = new AckedPublisher(connection, timeoutMs);
    return {
      connection,
      log: new NatsSessionLog(connection, jsm, publisher, { replicas, timeoutMs }),
      snapshots,
      source: new NatsDispatchSource(connection.jetstream(), jsm, publisher, {
        logger,
        replicas,
        ackWaitMs,
        maxInHand,
        maxAckPending,
      }),
      rejected: new NatsRejectedStore(connection, jsm, publisher, { replicas }),
      async close() {
        publisher.close();
        await closeConnection(connection);
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
