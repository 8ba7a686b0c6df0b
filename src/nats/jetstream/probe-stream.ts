import { type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { PROBE_STREAM, PROBE_SUBJECT } from '../../contracts/names.js';
import { API, apiCode } from '../connection/nats-errors.js';
import { AckedPublisher } from './acked-publisher.js';
import { probeGone, stuckStreams } from './list-streams.js';

/** More than the rest of a disk block that is in use already. */
const PROBE_BYTES = 16_384;
const REQUEST_MS = 5000;

/**
 * Writes to a temporary stream, runs `work` while it exists, and deletes it. Only a real write shows if there is space, because
 * limits ignore a disk that others have filled.
 *
 * @throws ThroughlineError `conflict` if the stream is deleted meanwhile, so that nothing is known
 * @throws ThroughlineError, or the client's error, if the message cannot be stored; and errors of `work`
 */
export async function withProbeStream<T>(
  connection: NatsConnection,
  jsm: JetStreamManager,
  options: { readonly replicas: number; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  const publisher = new AckedPublisher(connection, options.timeoutMs);
  try {
    await jsm.streams
      .add({
        name: PROBE_STREAM,
        subjects: [PROBE_SUBJECT],
        description: 'Whether anything can be stored: made for a moment, and removed again',
        storage: StorageType.File,
        max_msgs: 1,
        max_bytes: 4 * PROBE_BYTES,
        num_replicas: options.replicas,
      })
      .catch((error: unknown) => {
        // Left by a killed process, possibly with other replicas.
        if (apiCode(error) !== API.streamNameInUse) throw error;
      });
    const { outcome } = await publisher.publish(PROBE_SUBJECT, Buffer.alloc(PROBE_BYTES));
    if (outcome === 'no_stream') throw probeGone(PROBE_STREAM);
    return await work();
  } finally {
    publisher.close();
    await jsm.streams.delete(PROBE_STREAM).catch(() => {});
  }
}

/**
 * Returns true if a stream of our own server cannot write although others can.
 *
 * @throws ThroughlineError, or the client's error, if nothing can be stored at all or the result is unknown
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
