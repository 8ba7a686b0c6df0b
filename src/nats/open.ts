import type { JetStreamManager, NatsConnection } from 'nats';
import {
  DISPATCH_REVIEWS,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  LEARNING_SNAPSHOT_BUCKET,
  SNAPSHOT_BUCKET,
} from '../contracts/names.js';
import type { Logger } from '../ports/logger.js';
import { AckedPublisher } from './acked-publisher.js';
import { closeConnection, connectNats } from './connection.js';
import { type DispatchConsumer, NatsDispatchSource } from './dispatch-source.js';
import { NatsLearningLog } from './learning-log.js';
import { NatsRejectedStore } from './rejected-store.js';
import { NatsSessionLog } from './session-log.js';
import { type NatsSnapshotStore, openSnapshotStore } from './snapshot-store.js';
import { ensureDispatchStream, ensureLearningsStream, ensureRejectedStream } from './topology.js';
import { NatsVectorStore } from './vector-store.js';

/** One connection with all ports on it. */
export interface NatsPorts {
  readonly connection: NatsConnection;
  readonly log: NatsSessionLog;
  readonly snapshots: NatsSnapshotStore;
  readonly learnings: NatsLearningLog;
  readonly learningSnapshots: NatsSnapshotStore;
  readonly source: NatsDispatchSource;
  /** Dispatches of reviewers, for those who learn from them. */
  readonly reviews: NatsDispatchSource;
  readonly rejected: NatsRejectedStore;
  readonly vectors: NatsVectorStore;
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

const EXTRACTOR: DispatchConsumer = {
  name: EXTRACTOR_CONSUMER,
  description: 'Dispatches that are not yet facts',
};
const LEARNER: DispatchConsumer = {
  name: LEARNER_CONSUMER,
  description: 'Reviews that have not been learned from',
  filter: DISPATCH_REVIEWS,
};

/** Connects, and makes the streams and the bucket that are missing. */
export async function openNats(options: NatsOptions): Promise<NatsPorts> {
  const { logger, replicas, requestTimeoutMs: timeoutMs, ackWaitMs, maxInHand, maxAckPending } = options;
  const connection = await connectNats(options);
  try {
    // The account was checked on connecting; the client's own check would cost one more round trip.
    const jsm: JetStreamManager = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    await ensureDispatchStream(jsm, { replicas });
    await ensureRejectedStream(jsm, { replicas });
    await ensureLearningsStream(jsm, { replicas });
    const snapshots = await openSnapshotStore(connection, SNAPSHOT_BUCKET, 'Folded state of each session', {
      replicas,
    });
    const learningSnapshots = await openSnapshotStore(
      connection,
      LEARNING_SNAPSHOT_BUCKET,
      'Learnings of each project',
      { replicas },
    );
    const publisher = new AckedPublisher(connection, timeoutMs);
    const dispatches = (consumer: DispatchConsumer) =>
      new NatsDispatchSource(connection.jetstream(), jsm, publisher, {
        ...{ consumer, logger, replicas, ackWaitMs, maxInHand, maxAckPending },
      });
    return {
      connection,
      log: new NatsSessionLog(connection, jsm, publisher, { replicas, timeoutMs }),
      snapshots,
      learnings: new NatsLearningLog(connection, jsm, publisher, { replicas, timeoutMs }),
      learningSnapshots,
      source: dispatches(EXTRACTOR),
      reviews: dispatches(LEARNER),
      rejected: new NatsRejectedStore(connection, jsm, publisher, { replicas }),
      vectors: new NatsVectorStore(connection, { replicas, timeoutMs }),
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
