import {
  headers,
  type JetStreamManager,
  type Msg,
  ErrorCode as NatsCode,
  type NatsConnection,
  NatsError,
  type StreamInfo,
} from 'nats';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { Semaphore } from '../../engine/runtime/pacing.js';
import { jsonOf } from '../../shared/text.js';
import { API, apiCode, MAKE_ROOM_ON_DISK } from '../connection/nats-errors.js';

/** Concurrent requests for single streams: each may take as long as the client waits. */
const AT_ONCE = 250;

export const START_HOLDERS = 'start the servers of the cluster that hold them';

export interface ListedStreams {
  readonly found: StreamInfo[];
  /** Names of streams without a leader: they exist, and nothing else is known. */
  readonly leaderless: string[];
}

/**
 * Lists all streams with matching subjects, and those without a leader. The server's list omits streams that have not elected a
 * leader, and shows streams whose servers are down as empty: these are requested by name.
 */
export async function listedStreams(jsm: JetStreamManager, subjects: string): Promise<ListedStreams> {
  // After an omission the pages overlap, so streams may repeat.
  const found = new Map<string, StreamInfo>();
  for await (const info of jsm.streams.list(subjects))
    if (info.cluster === undefined || info.cluster.leader) found.set(info.config.name, info);
  const leaderless: string[] = [];
  let isSilent = false;
  const ask = async (name: string) => {
    try {
      found.set(name, await jsm.streams.info(name));
    } catch (error) {
      // Removed since it was listed.
      if (apiCode(error) === API.streamNotFound) return;
      if (!isOfLeaderless(error)) throw error;
      leaderless.push(name);
      isSilent ||= isTimeout(error);
    }
  };
  if (!isAlone([...found.values()])) {
    const turns = new Semaphore(AT_ONCE);
    const left = (await namesOf(jsm, subjects)).filter((name) => !found.has(name));
    await Promise.all(left.map((name) => turns.run(() => ask(name))));
  }
  // If this times out as well, the connection or the server is at fault.
  if (isSilent) await namesOf(jsm, subjects);
  return { found: [...found.values()], leaderless };
}

export async function namesOf(jsm: JetStreamManager, subjects: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names(subjects)) names.push(name);
  return names;
}

/** Returns true for a server without a cluster, whose list is complete. */
function isAlone(found: readonly StreamInfo[]): boolean {
  return found.length > 0 && found.every(({ cluster }) => cluster === undefined);
}

function isOfLeaderless(error: unknown): boolean {
  const code = apiCode(error);
  return isTimeout(error) || code === API.streamOffline || code === API.notAvailable;
}

function isTimeout(error: unknown): boolean {
  return error instanceof NatsError && error.code === NatsCode.Timeout;
}

/**
 * After a failed write, usually on a full disk, a stream answers no publish until its server restarts: no PubAck, no error.
 *
 * The probe is a publish with an unsatisfiable expected stream: it is rejected before any write, so that a stuck stream answers
 * it, and never stored. It needs no other permission than publishing.
 */
const EXPECTED_STREAM = 'Nats-Expected-Stream';
/** Not a valid stream name. */
const NO_STREAM = 'none.of.all';

export function probeStuck(connection: NatsConnection, subject: string, reply: string): void {
  const head = headers();
  head.set(EXPECTED_STREAM, NO_STREAM);
  connection.publish(subject, '', { reply, headers: head });
}

export function isStuckAnswer({ data }: Pick<Msg, 'data'>): boolean {
  const answer = jsonOf(data) as { readonly error?: { readonly err_code?: number } } | undefined;
  return answer?.error?.err_code === API.otherStream;
}

/** Reports a publish to a stream that answers probes but no publishes. */
export function stuckFault(subject: string): ThroughlineError {
  return new ThroughlineError(
    'store_full',
    `${subject} was not stored: its stream answers but cannot write; ${MAKE_ROOM_ON_DISK}`,
  );
}

/**
 * Returns the streams of a single server that cannot write, for a user who may delete messages. Deleting a message that cannot
 * exist changes nothing, and fails differently after a failed write. Skips missing streams and those that deny deletes.
 *
 * @param healthy a stream that was just written to, whose answer is the reference
 * @throws ThroughlineError `conflict` if `healthy` does not exist
 * @throws the client's error if the user may not or the server does not answer
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
    const refusal = await refusalOf(jsm, name);
    if (refusal === undefined || refusal === inOrder) continue;
    if ((await jsm.streams.info(name)).config.deny_delete !== true) stuck.push(name);
  }
  return stuck;
}

/** Reports that a temporary stream was removed, so that the result is unknown. */
export function probeGone(stream: string): ThroughlineError {
  return new ThroughlineError(
    'conflict',
    `stream ${stream} was removed while it was in use, perhaps by another process that tried the same`,
  );
}

/** Returns a stream's answer; `undefined` for none, or one that says nothing about the disk. */
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
