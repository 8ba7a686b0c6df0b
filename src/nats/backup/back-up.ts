import type { ConsumerInfo, JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  LEARNINGS_STREAM,
  REJECTED_STREAM,
} from '../../contracts/names.js';
import { Semaphore } from '../../runtime/semaphore.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { AckedPublisher } from '../jetstream/acked-publisher.js';
import { seenLayout } from '../jetstream/installed-layout.js';
import { whileMoving } from '../jetstream/moving-streams.js';
import { LIFECYCLE_STREAM } from '../stores/lifecycle-bucket.js';
import { type BackupManifest, type StoredStream, writeManifest } from './backup-manifest.js';
import { DERIVED, isSessionLog, ownStreams } from './own-streams.js';
import { newDirectory, writeCopy } from './stream-files.js';
import { snapshotStream } from './stream-snapshot.js';

/**
 * Copies a whole installation into a directory, while it runs.
 *
 * The order makes it consistent. First the positions of the consumers are noted: what they have acknowledged by then is in
 * the streams that are copied later, and what is not is taken again after a restore, and counts once. What was made from
 * other streams is copied before them: snapshots before logs, logs before `DISPATCH`. So each event has its dispatch.
 */
export interface BackupOptions {
  readonly directory: string;
  /** Unique to this backup. */
  readonly id: string;
  /** When it begins, ISO 8601 in UTC. */
  readonly at: string;
  /** Of this product. */
  readonly version: string;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** Told when it is known how many streams there are, and after each piece. */
  readonly onProgress?: (progress: TransferProgress) => void;
}

export interface TransferProgress {
  readonly streams: number;
  readonly of: number;
  readonly bytes: number;
}

/** Streams that are copied at a time. */
const AT_ONCE = 4;

/**
 * @throws ThroughlineError `usage` for a directory that is not empty, `not_found` without an installation,
 * `unavailable` when the server is lost: the directory then holds no backup
 */
export async function backUp(connection: NatsConnection, options: BackupOptions): Promise<BackupManifest> {
  const { directory, id, at, version, timeoutMs, onProgress = () => {} } = options;
  const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const publisher = new AckedPublisher(connection, timeoutMs);
  try {
    const layout = await seenLayout({ connection, jsm, publisher, timeoutMs }, {});
    if (layout.layout === 'moving') throw whileMoving();
    const there = await ownStreams(jsm);
    if (there.length === 0)
      throw new ThroughlineError(
        'not_found',
        'there is nothing to back up: the server has no streams of Throughline',
      );
    await newDirectory(directory);
    const consumers = await positions(jsm);
    const streams: StoredStream[] = [];
    let bytes = 0;
    let total = there.length;
    const tell = () => onProgress({ streams: streams.length, of: total, bytes });
    let files = 0;
    const copy = async (name: string) => {
      files += 1;
      const file = `${String(files).padStart(6, '0')}-${name}.snapshot`;
      const copied = await writeCopy(directory, file, (write) =>
        snapshotStream(connection, name, async (piece) => {
          await write(piece);
          bytes += piece.length;
          tell();
        }),
      );
      const { result, ...written } = copied;
      // Removed since it was listed.
      if (result === undefined) return;
      const { config, state } = result;
      const { first_seq: firstSequence, last_seq: lastSequence, messages } = state;
      streams.push({ name, file, config, firstSequence, lastSequence, messages, ...written });
      tell();
    };
    const copyAll = (names: readonly string[]) => fewAtATime(names, copy);
    tell();
    await copyAll(there.filter((name) => DERIVED.includes(name)));
    // A rejection is stored before its event, and a learning names events of sessions.
    await copyAll(there.filter((name) => name === REJECTED_STREAM || name === LEARNINGS_STREAM));
    // Once more: a session that is in the snapshots may be newer than the first list.
    const now = await ownStreams(jsm);
    total = now.length;
    await copyAll(now.filter(isSessionLog));
    // What was forgotten while its log was copied is so in the copy.
    await copyAll(now.filter((name) => name === LIFECYCLE_STREAM));
    await copyAll(now.filter((name) => name === DISPATCH_STREAM));
    const server = connection.info?.version ?? 'unknown';
    const manifest = { id, version, server, at, layout, consumers, streams };
    await writeManifest(directory, manifest);
    return { format: 1, ...manifest };
  } catch (error) {
    throw toThroughlineError(error, 'backing up');
  } finally {
    publisher.close();
  }
}

/** Does it for each name, a few at a time. After a first failure no further one begins. */
export async function fewAtATime(
  names: readonly string[],
  work: (name: string) => Promise<void>,
): Promise<void> {
  const turns = new Semaphore(AT_ONCE);
  let failed = false;
  await Promise.all(
    names.map((name) =>
      turns.run(async () => {
        if (failed) return;
        await work(name).catch((error: unknown) => {
          failed = true;
          throw error;
        });
      }),
    ),
  );
}

/** Where each consumer of `DISPATCH` goes on: behind the last dispatch up to which all are dealt with. */
async function positions(jsm: JetStreamManager): Promise<BackupManifest['consumers']> {
  const found: ConsumerInfo[] = [];
  for (const name of [EXTRACTOR_CONSUMER, LEARNER_CONSUMER]) {
    try {
      found.push(await jsm.consumers.info(DISPATCH_STREAM, name));
    } catch (error) {
      if (apiCode(error) !== API.consumerNotFound && apiCode(error) !== API.streamNotFound) throw error;
    }
  }
  return found.map(({ config, ack_floor }) => ({ config, start: ack_floor.stream_seq + 1 }));
}
