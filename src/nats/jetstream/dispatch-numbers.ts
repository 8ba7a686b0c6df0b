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
import { ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { LIFECYCLE_PREFIX, LIFECYCLE_STREAM } from '../stores/kv-bucket.js';
import { eventsOf } from '../stores/nats-event-log.js';
import { snapshotIn, unpackedText } from '../stores/nats-snapshot-store.js';
import { readLast, readStream, type StreamMessage } from './direct-get.js';
import { newestMessage, newestOf } from './newest-page.js';

export interface SeenDispatch {
  readonly sequence: number;
  /** Time of storage, ISO 8601 in UTC. */
  readonly at: string;
  readonly stream: string;
}

/** The stream's last sequence is behind what sessions have seen. */
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

const DISPATCH_EVENTS = [
  'fact.recorded',
  'dispatch.rejected',
  'session.checkpoint',
] satisfies SessionEvent['type'][];
/** Newest events of a session that are searched for its highest dispatch: late ones may follow it. */
const MOST_EVENTS = 1200;
/** The same for less recently changed sessions, if there are many. */
const LEAST_EVENTS = 64;
/** Approximate total number of events read: a start must not wait for more. */
const ALL_EVENTS = 10_000;

/** Returns the highest dispatch that a session or the rejected store knows; 0 for none. */
export async function highestKnown(ports: NumbersPorts): Promise<number> {
  const ofRejected = ({ header }: StoredMsg) => Number(header.get(HEADERS.dispatchSequence)) || undefined;
  const rejected = await newestOf(ports.jsm, REJECTED_STREAM, REJECTED_SUBJECTS, ofRejected);
  return Math.max(rejected ?? 0, (await highestSeen(ports))?.sequence ?? 0);
}

/**
 * Returns the highest dispatch that a session has seen, if any. Sessions reveal whether `DISPATCH` reuses numbers: they identify
 * dispatches by number, so after a restore from an older backup new results would count as duplicates.
 *
 * Sessions whose last event is older than that dispatch are skipped.
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
  // A shard's newest events contain the newest of its sessions, whatever their snapshots say.
  const session = sessionOfStream(stream);
  const subjects = session === undefined ? ALL_SESSIONS : sessionSubjects(session);
  const { through, newest: counted }: SnapshotNewest =
    session === undefined ? { through: 0 } : await inSnapshot(ports, session);
  const known = counted && { ...counted, stream };
  // Backwards from the end, because the last events may all be commands. The snapshot covers earlier ones.
  const oldest = known === undefined ? 1 : Math.min(through, state.last_seq);
  const first = Math.max(state.first_seq, oldest);
  let highest: SeenDispatch | undefined;
  let newest: number | undefined;
  for (let end = state.last_seq; end >= first && highest === undefined; end -= count) {
    // Avoids scanning a log in which there are only commands.
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

/** Returns the sequence of the newest event that refers to a dispatch; 0 for none. */
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

/** The part of a snapshot with the newest counted dispatches. */
const countedIn = z.object({
  session: z.string().optional(),
  state: z.object({
    window: z.object({
      recent: z.array(z.object({ sequence: z.int().positive(), at: z.iso.datetime() })),
    }),
  }),
});

interface SnapshotNewest {
  /** Sequence of the snapshot; 0 for none. */
  readonly through: number;
  readonly newest?: Pick<SeenDispatch, 'sequence' | 'at'> | undefined;
}

/** Returns the newest dispatch that counts by a session's snapshot, however many late ones followed. */
async function inSnapshot({ connection, timeoutMs }: NumbersPorts, session: Token): Promise<SnapshotNewest> {
  const last = await lastSnapshot(connection, session, timeoutMs);
  const snapshot = last && snapshotIn(last);
  if (snapshot === undefined) return { through: 0 };
  const text = await unpackedText(snapshot.text);
  const { data } = countedIn.safeParse(jsonOf(Buffer.from(text)));
  // If the snapshot is unreadable, only the log is known.
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

export async function numbersFault(
  ports: NumbersPorts,
  seen: SeenDispatch | undefined,
): Promise<NumbersFault | undefined> {
  if (seen === undefined) return undefined;
  const { jsm, connection, timeoutMs } = ports;
  // Dispatches of another server are not in the stream; numbers here start above the raised mark.
  const raised = await raisedTo(connection, timeoutMs);
  if (seen.sequence <= raised && (await jsm.streams.info(DISPATCH_STREAM)).state.last_seq >= raised)
    return undefined;
  const known = await ifExists(jsm.streams.getMessage(DISPATCH_STREAM, { seq: seen.sequence }));
  if (known?.time.toISOString() === seen.at) return undefined;
  const { last_seq: last } = (await jsm.streams.info(DISPATCH_STREAM)).state;
  // It may have been removed. Everything stored after it must have a higher number.
  const later = await firstAfter(ports, seen.at);
  if (last >= seen.sequence && (later === undefined || later > seen.sequence)) return undefined;
  const { sequence, stream } = seen;
  const stands = last < sequence ? `is at ${last}` : `reused number ${later}`;
  return {
    seen,
    last,
    message: `stream ${DISPATCH_STREAM} ${stands}, but ${stream} has dispatch ${sequence} of ${seen.at}: it was restored from an earlier backup, and new results would be rejected as duplicates`,
  };
}

export const REPAIR = 'throughline admin repair';

/** Returns the highest dispatch seen. Throws ThroughlineError `config_invalid` if the stream reuses numbers. */
export async function assertNumbers(ports: NumbersPorts): Promise<SeenDispatch | undefined> {
  try {
    const seen = await highestSeen(ports);
    const fault = await numbersFault(ports, seen);
    if (fault === undefined) return seen;
    throw new ThroughlineError('config_invalid', `${fault.message}: run "${REPAIR}"`);
  } catch (error) {
    throw toThroughlineError(error, 'comparing numbers of dispatches');
  }
}

/** Returns the sequence of the first dispatch stored more than a millisecond after a time. */
async function firstAfter({ connection, timeoutMs }: NumbersPorts, at: string): Promise<number | undefined> {
  const since = new Date(Date.parse(at) + 2).toISOString();
  const [first] = await readStream(connection, DISPATCH_STREAM, '>', { since, limit: 1 }, timeoutMs);
  return first?.sequence;
}

/** Key of the record in the bucket `session_lifecycle` with the raised dispatch number. */
export const RAISED_KEY = 'raised';
const raised = z.object({ v: z.literal(1), dispatches: z.int().positive() });

export function raisedIn(data: Uint8Array): number {
  return raised.safeParse(jsonOf(data)).data?.dispatches ?? 0;
}

/** Returns how far the numbers were raised for imported sessions; 0 if never, or if the user may not read it. */
async function raisedTo(connection: NatsConnection, timeoutMs: number): Promise<number> {
  try {
    const last = await readLast(connection, LIFECYCLE_STREAM, LIFECYCLE_PREFIX + RAISED_KEY, timeoutMs);
    return last === undefined ? 0 : raisedIn(last.data);
  } catch (error) {
    // There is no bucket yet.
    if (isNoResponders(error)) return 0;
    const fault = toThroughlineError(error, 'reading lifecycle records');
    if (fault.code === 'permission_denied') return 0;
    throw fault;
  }
}
