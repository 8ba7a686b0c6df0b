import type { JetStreamManager, NatsConnection } from 'nats';
import {
  DISPATCH_REVIEWS,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  LEARNING_SNAPSHOT_BUCKET,
  SNAPSHOT_BUCKET,
} from '../contracts/names.js';
import type { SessionLayout } from '../contracts/session-layout.js';
import type { Logger } from '../ports/logger.js';
import type { SessionActivity } from '../ports/session-activity.js';
import type { SessionLog } from '../ports/session-log.js';
import { noTracing, type Tracing } from '../ports/tracing.js';
import { closeConnection, connectNats } from './connection/connect-nats.js';
import type { NatsAccess } from './connection/nats-access.js';
import { toThroughlineError } from './connection/nats-errors.js';
import { AckedPublisher } from './jetstream/acked-publisher.js';
import { recordedLayout, seenLayout, type WantedLayout } from './jetstream/installed-layout.js';
import { repairStreams } from './jetstream/repair-streams.js';
import {
  ensureDispatchStream,
  ensureLearningsStream,
  ensurePromptsStream,
  ensureRejectedStream,
  refuseStrangersOnSessions,
} from './jetstream/topology.js';
import { type DispatchConsumer, NatsDispatchSource } from './stores/nats-dispatch-source.js';
import { NatsLearningLog } from './stores/nats-learning-log.js';
import { NatsPromptRing } from './stores/nats-prompt-ring.js';
import { NatsRejectedStore } from './stores/nats-rejected-store.js';
import { NatsSessionLog } from './stores/nats-session-log.js';
import { NatsShardedSessionLog } from './stores/nats-sharded-session-log.js';
import { type NatsSnapshotStore, openSnapshotStore } from './stores/nats-snapshot-store.js';
import { NatsTelemetryStore } from './stores/nats-telemetry-store.js';
import { NatsVectorStore } from './stores/nats-vector-store.js';

/** One connection with all ports on it. */
export interface NatsPorts {
  readonly connection: NatsConnection;
  /** How this installation lays out the logs of sessions. */
  readonly layout: SessionLayout;
  readonly log: SessionLog & SessionActivity;
  readonly snapshots: NatsSnapshotStore;
  readonly learnings: NatsLearningLog;
  readonly learningSnapshots: NatsSnapshotStore;
  readonly source: NatsDispatchSource;
  /** Dispatches of reviewers, for those who learn from them. */
  readonly reviews: NatsDispatchSource;
  readonly rejected: NatsRejectedStore;
  readonly vectors: NatsVectorStore;
  readonly telemetry: NatsTelemetryStore;
  readonly prompts: NatsPromptRing;
  /** Mends what a restored backup of single streams leaves behind, and says what. */
  repair(): Promise<string[]>;
  /** Sends what is still to be sent, then closes. Consumers and services must have been stopped before. */
  close(): Promise<void>;
}

/** What `openNats` makes where it is missing. */
export type Made =
  | 'layout'
  | 'dispatches'
  | 'rejected'
  | 'learnings'
  | 'snapshots'
  | 'learning-snapshots'
  | 'prompts';

export interface NatsOptions {
  readonly url: string;
  readonly name: string;
  readonly access?: NatsAccess;
  readonly logger: Logger;
  readonly replicas: number;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly ackWaitMs: number;
  /** Dispatches that an extractor asks for at a time. */
  readonly maxInHand: number;
  /** Default: no spans. */
  readonly tracing?: Tracing;
  /** Default: everything. A process that only reads makes nothing. */
  readonly makes?: readonly Made[];
  /** How the settings lay out the logs of sessions. Default: as the installation has them. */
  readonly wanted?: WantedLayout;
}

const EXTRACTOR: DispatchConsumer = {
  name: EXTRACTOR_CONSUMER,
  description: 'Dispatches that are not yet facts',
  boundedByServer: false,
};
const LEARNER: DispatchConsumer = {
  name: LEARNER_CONSUMER,
  description: 'Reviews that have not been learned from',
  filter: DISPATCH_REVIEWS,
  boundedByServer: true,
};

/** Reviews in the hands of all learners together: each may take several requests, and nobody waits for them. */
const MAX_REVIEWS = 100;

/** Prompts are compiled without a stream for their traces as well. */
async function tryPromptsStream(jsm: JetStreamManager, replicas: number, logger: Logger): Promise<void> {
  try {
    await ensurePromptsStream(jsm, { replicas });
  } catch (error) {
    const err = toThroughlineError(error, 'making the stream of prompts');
    logger.warn({ code: err.code, err }, 'compiled prompts are not kept');
  }
}

/** Connects, and makes the streams and the bucket that are missing, of those in `makes`. */
export async function openNats(options: NatsOptions): Promise<NatsPorts> {
  const { logger, replicas, requestTimeoutMs: timeoutMs, ackWaitMs, maxInHand } = options;
  const { tracing = noTracing } = options;
  const connection = await connectNats(options);
  try {
    // The account was checked on connecting; the client's own check would cost one more round trip.
    const jsm: JetStreamManager = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const makes = (made: Made) => options.makes?.includes(made) ?? true;
    const publisher = new AckedPublisher(connection, timeoutMs);
    const logPorts = { connection, jsm, publisher, timeoutMs, tracing };
    const { wanted = {} } = options;
    const layout = await (makes('layout')
      ? recordedLayout(logPorts, wanted, replicas)
      : seenLayout(logPorts, wanted));
    if (makes('dispatches')) await ensureDispatchStream(jsm, { replicas });
    if (makes('rejected')) await ensureRejectedStream(jsm, { replicas });
    if (makes('dispatches') || makes('learnings')) await refuseStrangersOnSessions(jsm, layout);
    if (makes('learnings')) await ensureLearningsStream(jsm, { replicas });
    if (makes('prompts')) await tryPromptsStream(jsm, replicas, logger);
    const bucket = (name: string, description: string, made: Made) =>
      openSnapshotStore(connection, name, description, { replicas, timeoutMs }, makes(made));
    const snapshots = await bucket(SNAPSHOT_BUCKET, 'Folded state of each session', 'snapshots');
    const learningSnapshots = await bucket(
      LEARNING_SNAPSHOT_BUCKET,
      'Learnings of each project',
      'learning-snapshots',
    );
    const dispatches = (consumer: DispatchConsumer, most = Number.POSITIVE_INFINITY) =>
      new NatsDispatchSource(connection, jsm, publisher, {
        consumer,
        logger,
        replicas,
        ackWaitMs,
        timeoutMs,
        tracing,
        maxInHand: Math.min(maxInHand, most),
      });
    return {
      connection,
      layout,
      log:
        layout.layout === 'sharded'
          ? new NatsShardedSessionLog(logPorts, { replicas, shards: layout.shards })
          : new NatsSessionLog(logPorts, { replicas }),
      snapshots,
      learnings: new NatsLearningLog(logPorts, { replicas }),
      learningSnapshots,
      source: dispatches(EXTRACTOR),
      reviews: dispatches(LEARNER, MAX_REVIEWS),
      rejected: new NatsRejectedStore(connection, jsm, publisher, { replicas, timeoutMs }),
      vectors: new NatsVectorStore(connection, { replicas, timeoutMs }),
      telemetry: new NatsTelemetryStore(connection, { replicas, timeoutMs }),
      prompts: new NatsPromptRing(connection, jsm, publisher, { replicas, timeoutMs }),
      repair: () => repairStreams({ ...logPorts }),
      async close() {
        publisher.close();
        await closeConnection(connection);
      },
    };
  } catch (error) {
    await connection.close();
    throw toThroughlineError(error, 'opening streams and bucket');
  }
}
