import type { JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  LEARNINGS_STREAM,
  PER_SESSION,
  PROMPTS_STREAM,
  REJECTED_STREAM,
} from '../../contracts/names.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { readLayout } from '../jetstream/layout-record.js';
import {
  type BackupManifest,
  DERIVED,
  isSessionLog,
  newDirectory,
  ownStreams,
  type StoredStream,
  writeCopy,
  writeManifest,
} from './backup-files.js';
import { snapshotStream } from './stream-transfer.js';

interface BackupOptions {
  readonly directory: string;
  /** Start time, ISO 8601 in UTC. */
  readonly at: string;
  readonly version: string;
  /** Deadline of one request to the server, in milliseconds. */
  readonly timeoutMs: number;
  readonly onProgress?: (streams: number, of: number) => void;
}

/**
 * Copies a whole installation into a directory while it runs.
 *
 * The order makes the copy consistent. Consumer positions are read first: acknowledged dispatches are in the streams copied
 * later, and others are redelivered after a restore and count once. Derived streams are copied before their sources: records
 * and snapshots before logs, logs before `DISPATCH`. So each event has its dispatch, and a session that is being archived or
 * forgotten at the start still is after a restore. One that is forgotten later may be in the copy.
 *
 * @throws ThroughlineError `usage` if the directory is not empty, `not_found` without an installation, `unavailable` if the
 * server is lost (the directory then holds no backup)
 */
export async function backUp(
  connection: NatsConnection,
  { directory, at, version, timeoutMs, onProgress = () => {} }: BackupOptions,
): Promise<BackupManifest & { readonly bytes: number }> {
  try {
    const jsm = await connection.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
    const layout = (await readLayout({ connection, timeoutMs })) ?? PER_SESSION;
    const there = await ownStreams(jsm);
    if (!there.includes(DISPATCH_STREAM))
      throw new ThroughlineError('not_found', `there is nothing to back up: no stream ${DISPATCH_STREAM}`);
    await newDirectory(directory);
    const start = await firstUnacknowledged(jsm);
    const streams: StoredStream[] = [];
    let bytes = 0;
    const copy = async (name: string) => {
      const file = `${String(streams.length).padStart(6, '0')}-${name}.snapshot`;
      const { result, sha256 } = await writeCopy(directory, file, (write) =>
        snapshotStream(connection, name, async (piece) => {
          await write(piece);
          bytes += piece.length;
          onProgress(streams.length, there.length);
        }),
      );
      // The stream may have been removed since it was listed; the next copy replaces its empty file.
      if (result === undefined) return;
      const { first_seq: firstSequence, last_seq: lastSequence, messages } = result.state;
      streams.push({ name, file, config: result.config, firstSequence, lastSequence, messages, sha256 });
    };
    // A rejection is stored before its event, and learnings refer to events of sessions.
    for (const name of [...DERIVED, PROMPTS_STREAM, REJECTED_STREAM, LEARNINGS_STREAM])
      if (there.includes(name)) await copy(name);
    // Listed again: a session in the snapshots may be newer than the first list.
    for (const name of await ownStreams(jsm)) if (isSessionLog(name)) await copy(name);
    await copy(DISPATCH_STREAM);
    const server = connection.info?.version ?? 'unknown';
    const manifest = { format: 1, version, server, at, layout, start, streams } as const;
    await writeManifest(directory, manifest);
    return { ...manifest, bytes };
  } catch (error) {
    throw toThroughlineError(error, 'backing up');
  }
}

async function firstUnacknowledged(jsm: JetStreamManager): Promise<number> {
  const info = await ifExists(jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER));
  return (info?.ack_floor.stream_seq ?? 0) + 1;
}
