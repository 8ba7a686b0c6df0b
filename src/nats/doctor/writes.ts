import { type JetStreamManager, type NatsConnection, StorageType } from 'nats';
import { PROBE_STREAM, PROBE_SUBJECT } from '../../contracts/names.js';
import { codeOf, messageOf, ThroughlineError } from '../../errors.js';
import { AckedPublisher } from '../acked-publisher.js';
import { API, apiCode, MAKE_ROOM_ON_DISK, toThroughlineError } from '../errors.js';
import { stuckStreams } from '../stuck-stream.js';
import { type Finding, fail, ok, warn } from './finding.js';

export const WRITES = 'JetStream writes';

/** More than what is left of a block of the disk that is in use already. */
const PROBE_BYTES = 16_384;

export interface Written {
  /** Streams that must be able to write. */
  readonly streams: readonly string[];
  readonly replicas: number;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeout: number;
}

/**
 * Whether anything can be stored: by a message in a stream of its own, which is removed again, and by asking the streams
 * that are there. A limit says nothing of a disk that others have filled, nor of a stream whose write has failed.
 */
export async function writeFindings(
  connection: NatsConnection,
  jsm: JetStreamManager,
  { streams, replicas, timeout }: Written,
): Promise<Finding[]> {
  try {
    await store(connection, jsm, replicas, timeout);
  } catch (error) {
    return [refused(error)];
  }
  try {
    const stuck = await stuckStreams(jsm, streams);
    if (stuck.length > 0) {
      const message = `${stuck.join(', ')} cannot write since a write has failed, also where there is room again`;
      return [fail(WRITES, message, MAKE_ROOM_ON_DISK)];
    }
    return [ok(WRITES, 'a message was stored and removed again, and every stream can write')];
  } catch (error) {
    if (codeOf(toThroughlineError(error, WRITES)) !== 'permission_denied') throw error;
    const message =
      'a message was stored and removed again; whether each stream can write, this user may not see';
    return [ok(WRITES, message)];
  }
}

async function store(
  connection: NatsConnection,
  jsm: JetStreamManager,
  replicas: number,
  timeout: number,
): Promise<void> {
  const doing = 'storing a message';
  const publisher = new AckedPublisher(connection, timeout);
  try {
    await make(jsm, replicas);
    const { outcome } = await publisher.publish(PROBE_SUBJECT, Buffer.alloc(PROBE_BYTES));
    // Another doctor at the same time may have removed it.
    if (outcome === 'wrong_sequence') throw new ThroughlineError('internal', `${doing}: ${outcome}`);
  } catch (error) {
    throw toThroughlineError(error, doing);
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
      description: 'Whether anything can be stored: made and removed by "throughline doctor"',
      storage: StorageType.File,
      max_msgs: 1,
      max_bytes: 4 * PROBE_BYTES,
      num_replicas: replicas,
    });
  } catch (error) {
    // Left by one that was killed, perhaps with another number of replicas.
    if (apiCode(error) !== API.streamNameInUse) throw error;
  }
}

function refused(error: unknown): Finding {
  const code = codeOf(error);
  if (code === 'permission_denied') {
    const message = 'this user may not try whether anything can be stored';
    return { ...warn(WRITES, message, 'run it as a user with the permissions of an operator'), denied: true };
  }
  const message = `nothing can be stored: ${messageOf(error)} (${code})`;
  // What is full, and what to do about it, differs: the error says both.
  if (code === 'store_full') return { check: WRITES, level: 'fail', message };
  return fail(WRITES, message, 'see whether the server answers, and what its log says');
}
