import type { JetStreamManager, NatsConnection, StoredMsg, StreamInfo } from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { jsonOf } from '../../contracts/event.js';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  DISPATCH_STREAM,
  HEADERS,
  REJECTED_STREAM,
  REJECTED_SUBJECTS,
  SNAPSHOT_BUCKET,
  sessionOfStream,
  sessionOfSubject,
  sessionSubject,
  sessionSubjects,
  shardOfStream,
  type Token,
} from '../../contracts/names.js';
import { newestNamed, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { snapshotIn, unpackedText } from '../stores/nats-snapshot-store.js';
import { eventsOf } from '../stores/stored-events.js';
import { readLast, readStream, type StreamMessage } from './direct-get.js';
import { newestMessage, newestOf } from './newest-page.js';
import { raisedTo } from './raised-record.js';

/**
 * Whether the stream `DISPATCH` may go on with its numbers. Sessions tell dispatches apart by them: where the stream was
 * restored from a backup, numbers that sessions have seen are given to new results, which would pass for repetitions.
 */

/** A dispatch that a session has seen. */
export interface SeenDispatch {
  readonly sequence: number;
  /** When it was stored, ISO 8601 in UTC. */
  readonly at: string;
  /** Stream of the session. */
  readonly stream: string;
}

/** The last sequence of the stream, when it is behind what sessions have seen. */
interface NumbersFault {
  readonly seen: SeenDispatch;
  readonly last: number;
  readonly message: string;
}

export interface NumbersPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly timeoutMs: number;
}

/** Types of the events that name a dispatch. */
const DISPATCH_EVENTS = [
  'fact.recorded',
  'dispatch.rejected',
  'session.checkpoint',
] satisfies SessionEvent['type'][];
/** Events of a session among which its highest dispatch is looked for: late ones may have come after it. */
const MOST_EVENTS = 1200;
/** The same for the sessions that changed longest ago, where there are many. */
const LEAST_EVENTS = 64;
/** Events that are read of all sessions together, about: a start must not wait for more. */
const ALL_EVENTS = 10_000;

/** The highest dispatch that a session or the store of rejected results knows of; 0 for none. */
export async function highestKnown(ports: NumbersPorts): Promise<number> {
  const ofRejected = ({ header }: StoredMsg) => Number(header.get(HEADERS.dispatchSequence)) || undefined;
  const rejected = await newestOf(ports.jsm, REJECTED_STREAM, REJECTED_SUBJECTS, ofRejected);
  return Math.max(rejected ?? 0, (await highestSeen(ports))?.sequence ?? 0);
}

/**
 * The highest dispatch that a session has seen, or `undefined` for none. Sessions that had their last event before that
 * dispatch was stored are not looked into.
 */
export async function highestSeen(ports: NumbersPorts): Promise<SeenDispatch | undefined> {
  const sessions: StreamInfo[] = [];
  for (const subjects of [ALL_SESSIONS, ALL_SHARDS]) {
    for await (const info of ports.jsm.streams.list(subjects)) {
      const { name } = info.config;
      const isLog = sessionOfStream(name) !== undefined || shardOfStream(name) !== undefined;
      if (isLog && info.state.messages > 0) sessions.push(info);
    }
  }
  const changed = ({ state }: StreamInfo) => Date.parse(state.last_ts);
  sessions.sort((one, other) => changed(other) - changed(one));
  let left = ALL_EVENTS;
  let highest: SeenDispatch | undefined;
  for (const info of sessions) {
    if (highest !== undefined && changed(info) < Date.parse(highest.at)) break;
    const events = left >= MOST_EVENTS ? MOST_EVENTS : LEAST_EVENTS;
    left -= Math.min(events, info.state.messages);
    highest = higher(highest, await highestIn(ports, info, events));
  }
  return highest;
}

async function highestIn(
  ports: NumbersPorts,
  { config: { name: stream }, state }: StreamInfo,
  count: number,
): Promise<SeenDispatch | undefined> {
  const { connection, timeoutMs } = ports;
  // A shard holds those of many sessions: what came last is among its newest events, whatever their snapshots say.
  const session = sessionOfStream(stream);
  const subjects = session === undefined ? ALL_SESSIONS : sessionSubjects(session);
  const { through, newest: counted }: SnapshotNewest =
    session === undefined ? { through: 0 } : await inSnapshot(ports, session);
  const known = counted && { ...counted, stream };
  // From the end backwards: the last events may all be commands. What counted before the snapshot is in it.
  const oldest = known === undefined ? 1 : Math.min(through, state.last_seq);
  const first = Math.max(state.first_seq, oldest);
  let highest: SeenDispatch | undefined;
  let newest: number | undefined;
  for (let end = state.last_seq; end >= first && highest === undefined; end -= count) {
    // Where nothing but commands came lately, or ever, it is not read through for that.
    if (end < state.last_seq) newest ??= await newestNaming(ports, stream, session);
    end = Math.min(end, newest ?? end);
    const range = { from: Math.max(state.first_seq, end - count + 1), through: end };
    const messages = await readStream(connection, stream, subjects, range, timeoutMs);
    for (const { event } of messages.flatMap((message) => eventIn(message, session))) {
      const named = newestNamed(event);
      if (named !== undefined) highest = higher(highest, { ...named, stream });
    }
  }
  return higher(known, highest);
}

/** Sequence of the newest event that names a dispatch; 0 for none. */
async function newestNaming(
  { jsm }: NumbersPorts,
  stream: string,
  session: Token | undefined,
): Promise<number> {
  const found = DISPATCH_EVENTS.map((type) =>
    newestMessage(jsm, stream, sessionSubject(session ?? ('*' as Token), type)),
  );
  return Math.max(0, ...(await Promise.all(found)).map((message) => message?.seq ?? 0));
}

function eventIn(message: StreamMessage, of: Token | undefined) {
  const session = of ?? sessionOfSubject(message.subject);
  if (session === undefined) return [];
  return eventsOf([message], 0, session, { format: SESSION_EVENTS, subject: sessionSubject }).events;
}

function higher(one: SeenDispatch | undefined, other: SeenDispatch | undefined): SeenDispatch | undefined {
  return (other?.sequence ?? 0) > (one?.sequence ?? 0) ? other : one;
}

/** What is needed of a snapshot: the newest dispatches that have counted. */
const countedIn = z.object({
  session: z.string().optional(),
  state: z.object({
    window: z.object({
      recent: z.array(z.object({ sequence: z.int().positive(), at: z.iso.datetime() })),
    }),
  }),
});

interface SnapshotNewest {
  /** Sequence of the log that the snapshot stands at; 0 without any. */
  readonly through: number;
  readonly newest?: Pick<SeenDispatch, 'sequence' | 'at'> | undefined;
}

/** The newest dispatch that counts by a session's snapshot, however many late ones came after it. */
async function inSnapshot({ connection, timeoutMs }: NumbersPorts, session: Token): Promise<SnapshotNewest> {
  const last = await lastSnapshot(connection, session, timeoutMs);
  const snapshot = last && snapshotIn(last);
  if (snapshot === undefined) return { through: 0 };
  const text = await unpackedText(snapshot.text);
  const { data } = countedIn.safeParse(jsonOf(Buffer.from(text)));
  // Of one that cannot be read only the log is known.
  if (data === undefined || (data.session ?? session) !== session) return { through: 0 };
  return { through: snapshot.sequence, newest: data.state.window.recent.at(-1) };
}

async function lastSnapshot(
  connection: NatsConnection,
  session: Token,
  timeoutMs: number,
): Promise<StreamMessage | undefined> {
  const subject = `$KV.${SNAPSHOT_BUCKET}.${session}`;
  try {
    return await readLast(connection, `KV_${SNAPSHOT_BUCKET}`, subject, timeoutMs);
  } catch (error) {
    // There is no bucket yet.
    if (isNoResponders(error)) return undefined;
    throw error;
  }
}

/** The fault in the numbers of the stream `DISPATCH`, or `undefined`. */
export async function numbersFault(
  ports: NumbersPorts,
  seen: SeenDispatch | undefined,
): Promise<NumbersFault | undefined> {
  if (seen === undefined) return undefined;
  const { jsm, connection, timeoutMs } = ports;
  // What another server has given is not in the stream; only numbers beyond it are given here.
  const raised = await raisedTo(connection, timeoutMs);
  if (seen.sequence <= raised && (await jsm.streams.info(DISPATCH_STREAM)).state.last_seq >= raised)
    return undefined;
  const known = await messageAt(jsm, { seq: seen.sequence });
  if (known !== undefined && known.at === seen.at) return undefined;
  const { last_seq: last } = (await jsm.streams.info(DISPATCH_STREAM)).state;
  // It may be gone by age or by hand. What was stored after it must have a higher number.
  const later = await firstAfter(ports, seen.at);
  if (last >= seen.sequence && (later === undefined || later > seen.sequence)) return undefined;
  const { sequence, stream } = seen;
  const stands = last < sequence ? `is at ${last}` : `gave number ${later} again`;
  return {
    seen,
    last,
    message: `stream ${DISPATCH_STREAM} ${stands}, but ${stream} has dispatch ${sequence} of ${seen.at}: it was restored from an earlier backup, and new results would be taken for repeated ones`,
  };
}

/** What to do about numbers that are used again. */
export const REPAIR = 'throughline admin repair';

/** @throws ThroughlineError `config_invalid` when the stream gives numbers that sessions have seen */
export async function assertNumbers(ports: NumbersPorts): Promise<SeenDispatch | undefined> {
  const [seen, fault] = await lookedUp(ports);
  if (fault !== undefined) throw new ThroughlineError('config_invalid', `${fault.message}: run "${REPAIR}"`);
  return seen;
}

async function lookedUp(
  ports: NumbersPorts,
): Promise<[seen: SeenDispatch | undefined, fault: NumbersFault | undefined]> {
  try {
    const seen = await highestSeen(ports);
    return [seen, await numbersFault(ports, seen)];
  } catch (error) {
    throw toThroughlineError(error, 'comparing numbers of dispatches');
  }
}

async function messageAt(
  jsm: JetStreamManager,
  query: { readonly seq: number },
): Promise<{ readonly at: string } | undefined> {
  try {
    return { at: (await jsm.streams.getMessage(DISPATCH_STREAM, query)).time.toISOString() };
  } catch (error) {
    if (apiCode(error) === API.messageNotFound || apiCode(error) === API.streamNotFound) return undefined;
    throw error;
  }
}

/** Sequence of the first dispatch that was stored more than a millisecond after a time. */
async function firstAfter({ connection, timeoutMs }: NumbersPorts, at: string): Promise<number | undefined> {
  const since = new Date(Date.parse(at) + 2).toISOString();
  const [first] = await readStream(connection, DISPATCH_STREAM, '>', { since, limit: 1 }, timeoutMs);
  return first?.sequence;
}
