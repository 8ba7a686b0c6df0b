import type { NatsConnection } from 'nats';
import { SNAPSHOT_BUCKET } from '../../contracts/names.js';
import type { SessionLayout } from '../../contracts/session-layout.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { NatsSessionLog } from '../stores/nats-session-log.js';
import { type NatsSnapshotStore, openSnapshotStore } from '../stores/nats-snapshot-store.js';
import { isSessionLog, ownStreams } from './backup-manifest.js';
import { lookAtLifecycle } from './lifecycle-look.js';

interface LayoutChange {
  readonly from: SessionLayout;
  readonly to: SessionLayout;
  /** Copies of each stream that is made. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

/** The logs of an installation in two layouts. Nothing else may read or write them. */
export interface LayoutLogs {
  readonly from: NatsSessionLog;
  /** Its sequences are above all of the layout before: no old snapshot or index entry counts as newer. */
  readonly to: NatsSessionLog;
  readonly snapshots: NatsSnapshotStore;
  /** Removes the streams of the layout before. */
  removeOld(): Promise<void>;
  close(): void;
}

/** Opens the logs of sessions in the layout that they have, and in the one that they get. */
export async function openLayoutLogs(
  connection: NatsConnection,
  { from, to, replicas, timeoutMs }: LayoutChange,
): Promise<LayoutLogs> {
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const old = (await ownStreams(jsm)).filter(isSessionLog);
  const { records } = await lookAtLifecycle(connection, jsm, timeoutMs);
  let above = 0;
  for (const { record } of records.values())
    if (record?.kind === 'forgotten') above = Math.max(above, record.record.sequence);
  for (const name of old) above = Math.max(above, (await jsm.streams.info(name)).state.last_seq);
  const bucket = { replicas, timeoutMs };
  const snapshots = await openSnapshotStore(
    connection,
    SNAPSHOT_BUCKET,
    'Folded state of each session',
    bucket,
    true,
  );
  const publisher = new AckedPublisher(connection, timeoutMs);
  const ports = { connection, jsm, publisher, timeoutMs };
  return {
    from: new NatsSessionLog(ports, from, { replicas }),
    to: new NatsSessionLog(ports, to, { replicas, above }),
    snapshots,
    async removeOld() {
      for (const name of old) await jsm.streams.delete(name);
    },
    close: () => publisher.close(),
  };
}
