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
import { Semaphore } from '../../engine/runtime/batched.js';
import { API, apiCode, MAKE_ROOM_ON_DISK } from '../connection/nats-errors.js';

/** Streams that are asked for by name at a time: each of them may take as long as the client waits. */
const AT_ONCE = 250;

/** What to do about streams without a leader. */
export const START_HOLDERS = 'start the servers of the cluster that hold them';

export interface ListedStreams {
  readonly found: StreamInfo[];
  /** Names of those that no server of the cluster leads now: they are there, and nothing else is known of them. */
  readonly leaderless: string[];
}

/** All streams with subjects that match, and the names of those without a leader. */
export async function listedStreams(jsm: JetStreamManager, subjects: string): Promise<ListedStreams> {
  const { found, faults } = await askedStreams(jsm, subjects);
  for (const fault of faults.values()) if (!isOfLeaderless(fault)) throw fault;
  // Without an answer to this either, it is the connection, or the server.
  if ([...faults.values()].some(isTimeout)) await namesOf(jsm, subjects);
  return { found, leaderless: [...faults.keys()] };
}

/**
 * All streams with subjects that match.
 *
 * @throws an error of the client where a stream has no leader for longer than the client waits
 */
export async function listStreams(jsm: JetStreamManager, subjects: string): Promise<StreamInfo[]> {
  const { found, faults } = await askedStreams(jsm, subjects);
  for (const fault of faults.values()) throw fault;
  return found;
}

/**
 * A list of the server leaves out streams whose servers have not agreed on who leads them, which the client does not show;
 * once it knows that their servers are down, it lists them as if they were empty. Each of these is asked for by its name.
 *
 * @returns with what was thrown for each that cannot be found out about
 */
async function askedStreams(jsm: JetStreamManager, subjects: string) {
  // A page after one that left something out begins too early: some come twice.
  const found = new Map<string, StreamInfo>();
  const faults = new Map<string, unknown>();
  for await (const info of jsm.streams.list(subjects))
    if (info.cluster === undefined || info.cluster.leader) found.set(info.config.name, info);
  const turns = new Semaphore(AT_ONCE);
  const ask = async (name: string) => {
    try {
      found.set(name, await jsm.streams.info(name));
    } catch (error) {
      // Removed since it was named.
      if (apiCode(error) !== API.streamNotFound) faults.set(name, error);
    }
  };
  if (!isAlone([...found.values()])) {
    const left = (await namesOf(jsm, subjects)).filter((name) => !found.has(name));
    await Promise.all(left.map((name) => turns.run(() => ask(name))));
  }
  return { found: [...found.values()], faults };
}

async function namesOf(jsm: JetStreamManager, subjects: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names(subjects)) names.push(name);
  return names;
}

/** Whether they come from a server without a cluster, which leaves none out. */
function isAlone(found: readonly StreamInfo[]): boolean {
  return found.length > 0 && found.every(({ cluster }) => cluster === undefined);
}

/** Whether a cluster answers so, or not at all, for a stream without a leader. */
function isOfLeaderless(error: unknown): boolean {
  const code = apiCode(error);
  return isTimeout(error) || code === API.streamOffline || code === API.notAvailable;
}

function isTimeout(error: unknown): boolean {
  return error instanceof NatsError && error.code === NatsCode.Timeout;
}

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
