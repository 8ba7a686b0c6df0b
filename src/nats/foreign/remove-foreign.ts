import type { JetStreamManager } from 'nats';
import {
  INDEX_BUCKET,
  isToken,
  LEARNING_SNAPSHOT_BUCKET,
  LIFECYCLE_BUCKET,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  TELEMETRY_BUCKET,
  VECTOR_BUCKET,
} from '../../contracts/names.js';
import type { SnapshotStore } from '../../ports/snapshot-store.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { ForeignMessage } from './scan-foreign.js';

export interface RemovedFrom {
  readonly jsm: JetStreamManager;
  readonly snapshots: SnapshotStore;
  readonly learningSnapshots: SnapshotStore;
}

/**
 * Removes foreign messages of one stream.
 *
 * The last message of a stream that is a session's own stays until an event follows it: a command expects the last sequence
 * of that stream, and knows it by the messages that are there. A bucket allows no single message to be deleted: the key is
 * emptied through its last foreign message, and the newest snapshot that stood under it is written again.
 *
 * @returns those that were removed
 * @throws ThroughlineError `permission_denied` where the user may not delete
 */
export async function removeForeign(
  { jsm, ...stores }: RemovedFrom,
  stream: string,
  messages: readonly ForeignMessage[],
): Promise<readonly ForeignMessage[]> {
  try {
    if (stream.startsWith('KV_')) {
      await emptyKeys(jsm, storeOf(stores, stream), stream, messages);
      return messages;
    }
    const last = sessionOfStream(stream) && (await jsm.streams.info(stream)).state.last_seq;
    const removed = messages.filter(({ sequence }) => sequence !== last);
    for (const { sequence } of removed) await jsm.streams.deleteMessage(stream, sequence, false);
    return removed;
  } catch (error) {
    throw toThroughlineError(error, `removing messages of ${stream}`);
  }
}

/**
 * What writes under the keys of a bucket again. Vectors are computed again when their service finds them missing, and
 * telemetry begins again, and the keeper
 * writes the index.
 */
function storeOf(
  { snapshots, learningSnapshots }: Omit<RemovedFrom, 'jsm'>,
  stream: string,
): SnapshotStore | undefined {
  switch (stream) {
    case `KV_${SNAPSHOT_BUCKET}`:
      return snapshots;
    case `KV_${LEARNING_SNAPSHOT_BUCKET}`:
      return learningSnapshots;
    case `KV_${TELEMETRY_BUCKET}`:
    case `KV_${INDEX_BUCKET}`:
    case `KV_${LIFECYCLE_BUCKET}`:
    case `KV_${VECTOR_BUCKET}`:
      return undefined;
    default:
      throw new Error(`${stream} is not a bucket of Throughline`);
  }
}

async function emptyKeys(
  jsm: JetStreamManager,
  store: SnapshotStore | undefined,
  stream: string,
  messages: readonly ForeignMessage[],
): Promise<void> {
  const lastOf = new Map(messages.map(({ subject, sequence }) => [subject, sequence]));
  for (const [subject, sequence] of lastOf) {
    const [, , key, ...more] = subject.split('.');
    const named = more.length === 0 && isToken(key) ? key : undefined;
    const kept = named && (await store?.load(named));
    await jsm.streams.purge(stream, { filter: subject, seq: sequence + 1 });
    if (named !== undefined && kept !== undefined) await store?.save(named, kept);
  }
}
