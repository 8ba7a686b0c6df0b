import { type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { PROBE_STREAM, PROBE_SUBJECT } from '../../contracts/names.js';
import { API, apiCode } from '../connection/nats-errors.js';
import { AckedPublisher } from './acked-publisher.js';
import { probeGone, stuckStreams } from './list-streams.js';

/** More than what is left of a block of the disk that is in use already. */
const PROBE_BYTES = 16_384;
const REQUEST_MS = 5000;

/**
 * Stores a message in a stream made for that, works while it is there, and removes the stream again.
 *
 * Only a real write tells whether there is room: limits know nothing of a disk that others have filled.
 *
 * @throws ThroughlineError `conflict` when the stream is removed meanwhile, which says nothing of the room there is
 * @throws ThroughlineError, or the client's error, when the message cannot be stored; and what `work` throws
 */
export async function withProbeStream<T>(
  connection: NatsConnection,
  jsm: JetStreamManager,
  options: { readonly replicas: number; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const publisher = new AckedPublisher(connection, options.timeoutMs);
  try {
    await make(jsm, options.replicas);
    const { outcome } = await publisher.publish(PROBE_SUBJECT, Buffer.alloc(PROBE_BYTES));
    if (outcome === 'no_stream') throw probeGone(PROBE_STREAM);
    return await work();
  } finally {
    publisher.close();
    await jsm.streams.delete(PROBE_STREAM).catch(() => {});
  }
}

async function make(jsm: JetStreamManager, replicas: number): Promise<void> {
  try {
    await jsm.streams.add({
      name: PROBE_STREAM,
      subjects: [PROBE_SUBJECT],
      description: 'Whether anything can be stored: made for a moment, and removed again',
      storage: StorageType.File,
      max_msgs: 1,
      max_bytes: 4 * PROBE_BYTES,
      num_replicas: replicas,
    });
  } catch (error) {
    // Left by a process that was killed, perhaps with another number of replicas.
    if (apiCode(error) !== API.streamNameInUse) throw error;
  }
}

/**
 * Whether some stream of a server of our own cannot write, though others can.
 *
 * @throws ThroughlineError, or the client's error, when nothing can be stored at all, or it cannot be told
 */
export async function hasStuckStream(connection: NatsConnection): Promise<boolean> {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const names: string[] = [];
  for await (const { config } of jsm.streams.list()) names.push(config.name);
  const stuck = await withProbeStream(connection, jsm, { replicas: 1, timeoutMs: REQUEST_MS }, () =>
    stuckStreams(jsm, PROBE_STREAM, names),
  );
  return stuck.length > 0;
}
