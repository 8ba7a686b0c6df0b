import type { JetStreamManager, NatsConnection, StreamInfo } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { DISPATCH_STREAM, sessionOfStream, sessionSubject, sessionSubjects } from '../../contracts/names.js';
import { SESSION_EVENTS } from '../../contracts/session-events.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { eventsOf } from '../stores/stored-events.js';
import { readStream } from './direct-get.js';

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
export interface NumbersFault {
  readonly seen: SeenDispatch;
  readonly last: number;
  readonly message: string;
}

export interface NumbersPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly timeoutMs: number;
}

/** Events of a session among which its highest dispatch is looked for, where there are few sessions and where there are many. */
const MOST_EVENTS = 1200;
const LEAST_EVENTS = 64;
/** Events that are read of all sessions together, about: a start must not wait for more. */
const ALL_EVENTS = 10_000;

/**
 * The highest dispatch that a session has seen, or `undefined` for none. Sessions that had their last event before that
 * dispatch was stored are not looked into.
 */
export async function highestSeen(ports: NumbersPorts): Promise<SeenDispatch | undefined> {
  const sessions: StreamInfo[] = [];
  for await (const info of ports.jsm.streams.list('session.>')) {
    if (sessionOfStream(info.config.name) !== undefined && info.state.messages > 0) sessions.push(info);
  }
  const changed = ({ state }: StreamInfo) => Date.parse(state.last_ts);
  sessions.sort((one, other) => changed(other) - changed(one));
  const each = Math.round(ALL_EVENTS / Math.max(1, sessions.length));
  const events = Math.min(MOST_EVENTS, Math.max(LEAST_EVENTS, each));
  let highest: SeenDispatch | undefined;
  for (const info of sessions) {
    if (highest !== undefined && changed(info) < Date.parse(highest.at)) break;
    const seen = await highestIn(ports, info, events);
    if (seen !== undefined && seen.sequence > (highest?.sequence ?? 0)) highest = seen;
  }
  return highest;
}

async function highestIn(
  { connection, timeoutMs }: NumbersPorts,
  { config: { name: stream }, state }: StreamInfo,
  count: number,
): Promise<SeenDispatch | undefined> {
  let highest: SeenDispatch | undefined;
  const session = sessionOfStream(stream);
  if (session === undefined) return undefined;
  const subjects = sessionSubjects(session);
  // From the end backwards: the last events may all be commands.
  for (let end = state.last_seq; end >= state.first_seq && highest === undefined; end -= count) {
    const range = { from: Math.max(state.first_seq, end - count + 1), through: end };
    const messages = await readStream(connection, stream, subjects, range, timeoutMs);
    const { events } = eventsOf(messages, 0, session, { format: SESSION_EVENTS, subject: sessionSubject });
    for (const { event } of events) {
      if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') continue;
      const { sequence, at } = event.data.dispatch;
      if (sequence > (highest?.sequence ?? 0)) highest = { sequence, at, stream };
    }
  }
  return highest;
}

/** The fault in the numbers of the stream `DISPATCH`, or `undefined`. */
export async function numbersFault(
  ports: NumbersPorts,
  seen: SeenDispatch | undefined,
): Promise<NumbersFault | undefined> {
  if (seen === undefined) return undefined;
  const { jsm } = ports;
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
export const REPAIR = 'throughline repair';

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
