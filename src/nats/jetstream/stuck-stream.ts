import { headers, type JetStreamManager, type Msg, type NatsConnection } from 'nats';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { API, apiCode, MAKE_ROOM_ON_DISK } from '../connection/nats-errors.js';

/**
 * A stream whose write has failed, on a full disk mostly, answers no publish any more: no PubAck, no error, even with
 * room again, until its server restarts. A publisher would only see its deadline pass, as when nothing answers at all.
 *
 * What tells is a publish that expects to be stored in another stream: it is refused before anything is written, so that
 * a stuck stream answers this one, and nothing is ever stored by it. It needs no other permission than a publish.
 */
const EXPECTED_STREAM = 'Nats-Expected-Stream';
/** No stream can have this name. */
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
    `${subject} was not stored: its stream answers but cannot write; ${MAKE_ROOM_ON_DISK}`,
  );
}

/**
 * Which of some streams of a single server cannot write, for a user who may delete messages there: a message that no stream can hold is
 * asked to be deleted, which changes nothing, and is refused for another reason where a write has failed. Streams
 * that are not there are left out, and those of which this cannot be told: what lets no message be deleted refuses it always.
 *
 * @param healthy a stream that has just been written to: what it says is what one in order says
 * @throws ThroughlineError `conflict` when `healthy` is not there: then nothing is known of any stream
 * @throws the client's error, when the user may not or the server does not answer
 */
export async function stuckStreams(
  jsm: JetStreamManager,
  healthy: string,
  names: Iterable<string>,
): Promise<string[]> {
  const inOrder = await refusalOf(jsm, healthy);
  if (inOrder === undefined) throw probeGone(healthy);
  const stuck: string[] = [];
  for (const name of names) {
    const said = await refusalOf(jsm, name);
    if (said === undefined || said === inOrder || (await keepsAll(jsm, name))) continue;
    stuck.push(name);
  }
  return stuck;
}

/** A stream that was made to try something out is not there any more: what was to be found out is not known. */
export function probeGone(stream: string): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `stream ${stream} was removed while it was in use, perhaps by another process that tried the same`,
  );
}

async function keepsAll(jsm: JetStreamManager, stream: string): Promise<boolean> {
  return (await jsm.streams.info(stream)).config.deny_delete === true;
}

/** What a stream says; `undefined` for none, and for one whose answer tells nothing of the disk. */
async function refusalOf(jsm: JetStreamManager, stream: string): Promise<string | undefined> {
  try {
    await jsm.streams.deleteMessage(stream, Number.MAX_SAFE_INTEGER, false);
    return undefined;
  } catch (error) {
    const code = apiCode(error);
    if (code === API.streamNotFound || code === API.sequenceNotFound || code === API.streamSealed)
      return undefined;
    if (code !== API.deleteFailed) throw error;
    return messageOf(error);
  }
}
