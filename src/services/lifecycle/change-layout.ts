import type { NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { SNAPSHOT_BUCKET, type Token } from '../../contracts/names.js';
import type { SessionLayout } from '../../contracts/session-layout.js';
import { copyLog, isSameSession } from '../../folding/log-copy.js';
import { foldedLog, keptState, wholeLog } from '../../folding/whole-log.js';
import { lookAtLifecycle } from '../../nats/backup/lifecycle-look.js';
import { isSessionLog, ownStreams } from '../../nats/backup/own-streams.js';
import { AckedPublisher } from '../../nats/jetstream/acked-publisher.js';
import { NatsSessionLog } from '../../nats/stores/nats-session-log.js';
import { openSnapshotStore } from '../../nats/stores/nats-snapshot-store.js';
import { type Clock, systemClock } from '../../ports/clock.js';
import { type Logger, silentLogger } from '../../ports/logger.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { ReplacingSnapshotStore } from '../../ports/snapshot-store.js';
import { encodeSnapshot } from '../../session/session-snapshot.js';

export interface ChangeLayoutOptions {
  readonly from: SessionLayout;
  readonly to: SessionLayout;
  /** Copies of each stream that is made. */
  readonly replicas: number;
  readonly timeoutMs: number;
  /** Told after each session. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Copies the logs of all sessions to the streams of another layout, and removes those of the layout before. Nothing else
 * may read or write them meanwhile: a restore calls this before services can start. Cut off, it is done again from the
 * backup.
 *
 * @throws ThroughlineError `internal` where a copy differs; nothing is removed then
 */
export async function changeLayout(connection: NatsConnection, options: ChangeLayoutOptions): Promise<void> {
  const { from: before, to: after, replicas, timeoutMs, onProgress } = options;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const publisher = new AckedPublisher(connection, timeoutMs);
  try {
    const ports = { connection, jsm, publisher, timeoutMs };
    const old = (await ownStreams(jsm)).filter(isSessionLog);
    const above = await highestSequence(old, async (name) => (await jsm.streams.info(name)).state.last_seq);
    const { records } = await lookAtLifecycle(connection, jsm, timeoutMs);
    const forgotten = [...records.values()].flatMap(({ record }) =>
      record?.kind === 'forgotten' ? record.record.sequence : [],
    );
    // A snapshot or an index entry of the layout before must never count as newer than what is copied.
    const made = { replicas, above: Math.max(above, ...forgotten) };
    const description = 'Folded state of each session';
    const snapshots = await openSnapshotStore(
      connection,
      SNAPSHOT_BUCKET,
      description,
      { replicas, timeoutMs },
      true,
    );
    const from = new NatsSessionLog(ports, before, { replicas });
    const to = new NatsSessionLog(ports, after, made);
    const sessions = await from.sessions();
    for (const [index, session] of sessions.entries()) {
      await copySession(session, { from, to, snapshots, clock: systemClock, logger: silentLogger });
      onProgress?.(index + 1, sessions.length);
    }
    for (const name of old) await jsm.streams.delete(name);
  } finally {
    publisher.close();
  }
}

async function highestSequence(
  names: readonly string[],
  last: (name: string) => Promise<number>,
): Promise<number> {
  let highest = 0;
  for (const name of names) highest = Math.max(highest, await last(name));
  return highest;
}

export interface CopySessionPorts {
  readonly from: Pick<SessionLog, 'read'>;
  readonly to: Pick<SessionLog, 'read' | 'append'>;
  readonly snapshots: ReplacingSnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Copies one session, compares the copy, and gives it a snapshot of its new sequences where it had one. */
export async function copySession(session: Token, ports: CopySessionPorts): Promise<void> {
  const { to, snapshots, clock } = ports;
  const from = await wholeLog({ ...ports, log: ports.from }, session);
  const copied = await copyLog({ from, to }, session);
  if (copied.outcome === 'differs' || !(await isSameSession({ from, to }, session)))
    throw new ThroughlineError(
      'internal',
      `session ${session} is not the same in its copy: nothing was removed`,
    );
  const kept = await keptState(ports, session);
  if (kept === undefined) return;
  const { state } = await foldedLog(to, session, kept.limits);
  if (state.sequence > 0)
    await snapshots.replace(session, { sequence: state.sequence, text: encodeSnapshot(state, clock()) });
}
