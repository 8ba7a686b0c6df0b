import { headers, type JetStreamManager, type Msg, type NatsConnection } from 'nats';
import {
  DISPATCH_STREAM,
  LEARNING_SNAPSHOT_BUCKET,
  LEARNINGS_STREAM,
  PROBE_SUBJECT,
  REJECTED_STREAM,
  SNAPSHOT_BUCKET,
  VECTOR_BUCKET,
} from '../contracts/names.js';
import { ThroughlineError } from '../errors.js';
import { API, apiCode, MAKE_ROOM_ON_DISK } from './errors.js';

/**
 * A stream whose write has failed, on a full disk mostly, answers no publish any more: no PubAck, no error, also when there
 * is room again, until its server has started again. A publisher would only see its deadline pass, as when
 * nothing answers at all.
 *
 * What tells is a publish that expects to be stored in another stream: it is refused before anything is written, so that
 * a stuck stream answers this one, and nothing is ever stored by it. It needs no other permission than a publish.
 */
const EXPECTED_STREAM = 'Nats-Expected-Stream';
/** No stream may be called so. */
const NO_STREAM = 'none.of.all';

/** Sends such a publish; its answer comes to `reply`. */
export function askWhetherStuck(connection: NatsConnection, subject: string, reply: string): void {
  const head = headers();
  head.set(EXPECTED_STREAM, NO_STREAM);
  connection.publish(subject, '', { reply, headers: head });
}

/** Whether the answer is that of a stream. */
export function isStuckAnswer(message: Pick<Msg, 'json'>): boolean {
  try {
    const { error } = message.json<{ error?: { err_code?: number } }>();
    return error?.err_code === API.otherStream;
  } catch {
    return false;
  }
}

/** What was published to a stream that answers the question and not the publish. */
export function stuckFault(subject: string): ThroughlineError {
  return new ThroughlineError(
    'store_full',
    `${subject} was not stored: its stream answers, and cannot write; ${MAKE_ROOM_ON_DISK}`,
  );
}

/**
 * Which of some streams cannot write, for a user who may purge them: a purge of what no stream holds changes
 * nothing, and fails where a write has failed before. Streams that are not there are left out.
 *
 * @throws the client's error, when the user may not or the server does not answer
 */
export async function stuckStreams(jsm: JetStreamManager, names: readonly string[]): Promise<string[]> {
  const stuck: string[] = [];
  for (const name of names) {
    try {
      await jsm.streams.purge(name, { filter: PROBE_SUBJECT });
    } catch (error) {
      const code = apiCode(error);
      if (code === API.purgeFailed) stuck.push(name);
      else if (code !== API.streamNotFound) throw error;
    }
  }
  return stuck;
}

/** Whether a stream cannot write: one of those that all sessions share, or any with `all`. */
export async function hasStuckStream(connection: NatsConnection, all: boolean): Promise<boolean> {
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const names: string[] = [];
  if (all) for await (const { config } of jsm.streams.list()) names.push(config.name);
  return (await stuckStreams(jsm, all ? names : SHARED_STREAMS)).length > 0;
}

const SHARED_STREAMS = [
  ...[DISPATCH_STREAM, REJECTED_STREAM, LEARNINGS_STREAM],
  ...[SNAPSHOT_BUCKET, LEARNING_SNAPSHOT_BUCKET, VECTOR_BUCKET].map((bucket) => `KV_${bucket}`),
];
