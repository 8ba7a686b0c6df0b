import { type JetStreamManager, ErrorCode as NatsCode, NatsError, type StreamInfo } from 'nats';
import { Semaphore } from '../../runtime/semaphore.js';
import { API, apiCode } from '../connection/nats-errors.js';

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
