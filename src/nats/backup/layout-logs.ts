import type { NatsConnection } from 'nats';
import { type SessionLayout, SNAPSHOT_BUCKET } from '../../contracts/names.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { NatsSessionLog } from '../stores/nats-session-log.js';
import { type NatsSnapshotStore, openSnapshotStore } from '../stores/nats-snapshot-store.js';
import { isSessionLog, ownStreams } from './backup-manifest.js';
import { lookAtLifecycle } from './lifecycle-look.js';

interface LayoutChange {
  readonly from: SessionLayout;
  readonly to: SessionLayout;
  readonly replicas: number;
  readonly timeoutMs: number;
}

/** The logs of an installation in two layouts. They must be accessed exclusively. */
export interface LayoutLogs {
  readonly from: NatsSessionLog;
  /** Its sequences start above all of the old layout, so that no old snapshot or index entry counts as newer. */
  readonly to: NatsSessionLog;
  readonly snapshots: NatsSnapshotStore;
  removeOld(): Promise<void>;
  close(): void;
}

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
