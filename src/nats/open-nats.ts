import type { JetStreamManager } from 'nats';
import { ALL_SESSIONS, PROJECT_KEY, SNAPSHOT_BUCKET } from '../contracts/names.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import type { ForgottenSessions } from '../engine/ports/session-lifecycle.js';
import { closeConnection, connectNats, openServerClock } from './connection/connect-nats.js';
import type { NatsAccess, NatsAddress } from './connection/nats-access.js';
import { toThroughlineError } from './connection/nats-errors.js';
import { AckedPublisher } from './jetstream/acked-publisher.js';
import { recordedLayout, seenLayout, type WantedLayout } from './jetstream/layout-record.js';
import { namesOf } from './jetstream/list-streams.js';
import {
  ensureDispatchStream,
  ensureLearningsStream,
  ensurePromptsStream,
  ensureRejectedStream,
  MANY_STREAMS,
  MOVE_TO_SHARDS,
  refuseStrangersOnSessions,
} from './jetstream/topology.js';
import { KvBucket } from './stores/kv-bucket.js';
import { dispatchNumbers, leaseStore, retentionStore } from './stores/kv-stores.js';
import { dispatchSource } from './stores/nats-dispatch-source.js';
import { NatsLearningLog, NatsSessionLog } from './stores/nats-event-log.js';
import { promptRing } from './stores/nats-prompt-ring.js';
import { rejectedStore } from './stores/nats-rejected-store.js';
import { NatsSessionEraser } from './stores/nats-session-eraser.js';
import { sessionIndex } from './stores/nats-session-index.js';
import { NatsSessionLifecycle, NONE_FORGOTTEN } from './stores/nats-session-lifecycle.js';
import { snapshotStore } from './stores/nats-snapshot-store.js';

export type NatsPorts = Awaited<ReturnType<typeof openNats>>;

export interface NatsOptions {
  readonly url: NatsAddress;
  readonly name: string;
  readonly access?: NatsAccess;
  readonly logger: Logger;
  readonly replicas: number;
  readonly requestTimeoutMs: number;
  readonly ackWaitMs: number;
  /** Dispatches that an extractor fetches at a time. */
  readonly maxInHand: number;
  /** Creates missing streams and buckets. A reader creates nothing. Default: true. */
  readonly makes?: boolean;
  /** Configured layout. Default: the installation's. */
  readonly wanted?: WantedLayout;
  /** Default: none is forgotten. */
  readonly lifecycle?: ForgottenSessions;
}

async function warnOfManyStreams(jsm: JetStreamManager, logger: Logger): Promise<void> {
  if ((await jsm.getAccountInfo()).streams <= MANY_STREAMS) return;
  const { length: streams } = await namesOf(jsm, ALL_SESSIONS);
  if (streams > MANY_STREAMS) logger.warn({ streams }, `each session has a stream: ${MOVE_TO_SHARDS}`);
}

/** Connects, and creates missing streams and buckets. */
export async function openNats(options: NatsOptions) {
  const { logger, replicas, requestTimeoutMs: timeoutMs, ackWaitMs, maxInHand } = options;
  const { lifecycle = NONE_FORGOTTEN } = options;
  const connection = await connectNats(options);
  try {
    // The account was checked on connecting; the client's check would cost another round trip.
    const jsm: JetStreamManager = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const { makes = true } = options;
    const publisher = new AckedPublisher(connection, timeoutMs);
    const ports = { connection, jsm, publisher, timeoutMs, replicas };
    const { wanted = {} } = options;
    const layout = await (makes ? recordedLayout(ports, wanted) : seenLayout(ports, wanted));
    const log = new NatsSessionLog(ports, layout, lifecycle);
    const bucketOptions = { replicas, timeoutMs };
    const numbers = dispatchNumbers(connection, bucketOptions);
    if (makes) {
      await ensureDispatchStream(jsm, { replicas }, numbers);
      await ensureRejectedStream(jsm, { replicas });
      await refuseStrangersOnSessions(jsm, layout);
      await ensureLearningsStream(jsm, { replicas });
      // Not fatal: prompts are compiled without their traces as well.
      await ensurePromptsStream(jsm, { replicas }).catch((error: unknown) => {
        const err = toThroughlineError(error, 'making the stream of prompts');
        logger.warn({ code: err.code, err }, 'compiled prompts are not kept');
      });
      if (layout.layout === 'per-session') await warnOfManyStreams(jsm, logger);
    }
    const snapshots = snapshotStore(connection, { ...bucketOptions, lifecycle });
    const learningSnapshots = snapshotStore(connection, { ...bucketOptions, prefix: PROJECT_KEY });
    if (makes) await snapshots.ensure();
    return {
      connection,
      layout,
      log,
      snapshots,
      index: sessionIndex(connection, jsm, bucketOptions),
      learnings: new NatsLearningLog(ports),
      learningSnapshots,
      source: dispatchSource({ ...ports, logger, ackWaitMs, maxInHand, numbers }),
      numbers,
      rejected: rejectedStore(ports),
      prompts: promptRing(ports, lifecycle),
      eraser: new NatsSessionEraser(ports, layout),
      retention: retentionStore(new KvBucket(connection, bucketOptions)),
      leases: leaseStore(connection, bucketOptions),
      /** Opens the lifecycle records, which are followed until `close`: once per process. */
      openLifecycle: () => NatsSessionLifecycle.open(connection, { replicas, timeoutMs, logger }),
      /** Opens the server's clock; requires the bucket of snapshots. */
      openClock: () => openServerClock(connection, `KV_${SNAPSHOT_BUCKET}`, timeoutMs),
      /** Flushes and closes. Consumers and services must be stopped before. */
      async close(): Promise<void> {
        publisher.close();
        await closeConnection(connection);
      },
    };
  } catch (error) {
    await connection.close();
    throw toThroughlineError(error, 'opening streams and bucket');
  }
}
