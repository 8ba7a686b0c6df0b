import type { ConsumerInfo, JetStreamManager, NatsConnection } from 'nats';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  LEARNINGS_STREAM,
  PER_SESSION,
  REJECTED_STREAM,
  type SessionLayout,
  streamOf,
} from '../../contracts/names.js';
import { counted } from '../../shared/text.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { newestLayout } from '../jetstream/layout-record.js';
import { LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { type BackupManifest, DERIVED, isSessionLog, ownStreams, writeManifest } from './backup-manifest.js';
import {
  type LifecycleChanges,
  type LifecycleLook,
  lifecycleChanges,
  lookAtLifecycle,
} from './lifecycle-look.js';
import { StreamCopies, type TransferProgress } from './stream-copies.js';
import { emptyDirectory, newDirectory } from './stream-files.js';

/**
 * Copies a whole installation into a directory while it runs.
 *
 * The order makes the copy consistent. Consumer positions are read first: acknowledged dispatches are in the streams copied
 * later, and others are redelivered after a restore and count once. Derived streams are copied before their sources: snapshots
 * before logs, logs before `DISPATCH`. So each event has its dispatch.
 *
 * A session that is imported, archived or forgotten meanwhile may differ between the copies. The lifecycle records are compared
 * before the first copy and after that of the logs, and affected streams are copied again.
 */
export interface BackupOptions {
  readonly directory: string;
  readonly id: string;
  /** Start time, ISO 8601 in UTC. */
  readonly at: string;
  readonly version: string;
  /** Deadline of one request to the server, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when the number of streams is known, and after each chunk. */
  readonly onProgress?: (progress: TransferProgress) => void;
  /** Called with the reason when something is copied again. */
  readonly onAgain?: (why: string) => void;
}

/** Maximum number of complete passes, if sessions keep being forgotten. */
const MOST_PASSES = 5;
/** Maximum number of rounds for the logs of changed sessions; a round is usually short. */
const MOST_ROUNDS = 10;

/**
 * @throws ThroughlineError `usage` if the directory is not empty, `not_found` without an installation, `conflict` if sessions
 * change faster than they are copied (the directory is then empty), `unavailable` if the server is lost (the directory then
 * holds no backup)
 */
export async function backUp(connection: NatsConnection, options: BackupOptions): Promise<BackupManifest> {
  const { directory, id, at, version, timeoutMs, onProgress = () => {}, onAgain = () => {} } = options;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const publisher = new AckedPublisher(connection, timeoutMs);
  const ports = { connection, jsm, publisher, timeoutMs };
  try {
    const { layout = PER_SESSION } = (await newestLayout(ports)) ?? {};
    if ((await ownStreams(jsm)).length === 0)
      throw new ThroughlineError(
        'not_found',
        'there is nothing to back up: the server has no streams of Throughline',
      );
    await newDirectory(directory);
    const copies = new StreamCopies(connection, directory, onProgress);
    const copying: Copying = {
      ...{ copies, jsm, layout, onAgain },
      look: () => lookAtLifecycle(connection, jsm, timeoutMs),
    };
    try {
      const consumers = await copyAll(copying);
      const server = connection.info?.version ?? 'unknown';
      const manifest = { id, version, server, at, layout, consumers, streams: copies.stored };
      await writeManifest(directory, manifest);
      return { format: 1, ...manifest };
    } catch (error) {
      // Makes the same command repeatable.
      if (codeOf(error) === 'conflict') await emptyDirectory(directory);
      throw error;
    }
  } catch (error) {
    throw toThroughlineError(error, 'backing up');
  } finally {
    publisher.close();
  }
}

interface Copying {
  readonly copies: StreamCopies;
  readonly jsm: JetStreamManager;
  readonly layout: SessionLayout;
  readonly onAgain: (why: string) => void;
  readonly look: () => Promise<LifecycleLook>;
}

/** Copies all streams and returns the consumer positions from before. */
async function copyAll(copying: Copying): Promise<BackupManifest['consumers']> {
  for (let pass = 1; ; pass += 1) {
    const consumers = await positions(copying.jsm);
    const isWhole = await copyOnce(copying);
    if (isWhole) return consumers;
    if (pass === MOST_PASSES)
      throw refused('sessions were forgotten each time that all was copied', 'none is being forgotten');
    // The session is in some copies only, and nothing would remove the rest after a restore.
    copying.onAgain('a session was forgotten meanwhile: copying all streams again');
    await copying.copies.clear();
  }
}

/** Returns `false` if a session was forgotten meanwhile. One that is still being forgotten stays so after a restore. */
async function copyOnce({ copies, jsm, layout, onAgain, look }: Copying): Promise<boolean> {
  let known = await look();
  const there = await ownStreams(jsm);
  copies.expect(there.length);
  await copies.copy(there.filter((name) => DERIVED.includes(name)));
  // A rejection is stored before its event, and learnings refer to events of sessions.
  await copies.copy(there.filter((name) => name === REJECTED_STREAM || name === LEARNINGS_STREAM));
  // List again: a session in the snapshots may be newer than the first list.
  const now = await ownStreams(jsm);
  copies.expect(now.length);
  await copies.copy(now.filter(isSessionLog));
  for (let round = 1; ; round += 1) {
    await copies.copy([LIFECYCLE_STREAM]);
    const seen = await look();
    let changes = lifecycleChanges(known, seen);
    if (changes.isForgotten) return false;
    known = seen;
    // After the last round, a few sessions may be archived only in the records: their results are then rejected.
    if (isSame(changes) || (round === MOST_ROUNDS && isArchiving(changes))) {
      await copies.copy([DISPATCH_STREAM]);
      const last = await look();
      changes = lifecycleChanges(known, last);
      if (changes.isForgotten) return false;
      // Results of a session that is being forgotten may be gone already. Later changes are not part of the backup.
      if (changes.forgetting.length === 0) return true;
      known = last;
    }
    const names = [...new Set([...changes.sessions, ...changes.forgetting])];
    const shown = `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
    if (round === MOST_ROUNDS)
      throw refused(
        `sessions change faster than they can be copied (${shown})`,
        'none is being imported, archived or forgotten',
      );
    const logs = [...new Set(names.map((session) => streamOf(layout, session)))];
    onAgain(
      `${counted(names.length, 'session')} changed meanwhile (${shown}): copying again what holds them`,
    );
    await copies.copy(logs);
  }
}

function isSame({ sessions, forgetting }: LifecycleChanges): boolean {
  return sessions.length === 0 && forgetting.length === 0;
}

function isArchiving({ isArchiving, forgetting }: LifecycleChanges): boolean {
  return isArchiving && forgetting.length === 0;
}

function refused(what: string, until: string): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `${what}: wait until ${until}, then run "throughline admin backup" again`,
  );
}

/** Returns the start position of each consumer of `DISPATCH`: behind its ack floor. */
async function positions(jsm: JetStreamManager): Promise<BackupManifest['consumers']> {
  const found: ConsumerInfo[] = [];
  for (const name of [EXTRACTOR_CONSUMER, LEARNER_CONSUMER]) {
    const info = await ifExists(jsm.consumers.info(DISPATCH_STREAM, name));
    if (info !== undefined) found.push(info);
  }
  return found.map(({ config, ack_floor }) => ({ config, start: ack_floor.stream_seq + 1 }));
}
