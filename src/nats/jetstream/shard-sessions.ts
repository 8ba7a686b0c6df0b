import type { JetStreamManager, NatsConnection } from 'nats';
import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionOfSubject,
  sessionSubjects,
  shardOfStream,
  type Token,
} from '../../contracts/names.js';
import { shardOf } from '../../contracts/session-layout.js';
import { batchFrom, type StreamMessage } from './direct-get.js';

/** What the stream of a shard holds, as the server counts it: no message is read for that. */
export interface ShardCounts {
  readonly stream: string;
  /** Its last sequence. */
  readonly last: number;
  /** Each session with events in it. */
  readonly sessions: ReadonlyMap<Token, SessionCount>;
}

interface SessionCount {
  readonly events: number;
  /** Types of event among them. */
  readonly types: number;
}

/**
 * Counts the events of all sessions, shard by shard.
 *
 * @throws what the requests throw
 */
export async function* shardCounts(jsm: JetStreamManager, shards: number): AsyncGenerator<ShardCounts> {
  for await (const stream of jsm.streams.names(ALL_SHARDS)) {
    const shard = shardOfStream(stream);
    if (shard === undefined) continue;
    const { state } = await jsm.streams.info(stream, { subjects_filter: ALL_SESSIONS });
    const sessions = new Map<Token, SessionCount>();
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      const session = sessionOfSubject(subject);
      if (session === undefined || shardOf(session, shards) !== shard) continue;
      const { events = 0, types = 0 } = sessions.get(session) ?? {};
      sessions.set(session, { events: events + count, types: types + 1 });
    }
    yield { stream, last: state.last_seq, sessions };
  }
}

/** All sessions that have events in shards. Throws as `shardCounts`. */
export async function sessionsInShards(jsm: JetStreamManager, shards: number): Promise<Token[]> {
  const found: Token[] = [];
  for await (const { sessions } of shardCounts(jsm, shards)) found.push(...sessions.keys());
  return found;
}

/** The server finds the newest of at most 1,024 subjects at once. Some may come between the count and that. */
const SUBJECTS_AT_ONCE = 500;

/**
 * The newest message of some sessions of a shard, by a request for many of them. Left out are sessions without any, and all
 * of those for which a replica answers that does not have everything yet that was counted.
 *
 * @throws ThroughlineError as `readStream`
 */
export async function newestInShard(
  connection: NatsConnection,
  { stream, last, sessions }: ShardCounts,
  timeoutMs: number,
): Promise<Map<Token, StreamMessage>> {
  const newest = new Map<Token, StreamMessage>();
  for (const some of portions(sessions)) {
    const wanted = { multi_last: some.map(sessionSubjects) };
    const { messages, pending, upTo } = await batchFrom(connection, stream, wanted, timeoutMs);
    if (upTo < last || pending > 0) continue;
    for (const message of messages) {
      const session = sessionOfSubject(message.subject);
      if (session !== undefined && message.sequence > (newest.get(session)?.sequence ?? 0))
        newest.set(session, message);
    }
  }
  return newest;
}

/** Sessions, as many at once as the server takes. */
function* portions(sessions: ReadonlyMap<Token, SessionCount>): Generator<Token[]> {
  let some: Token[] = [];
  let subjects = 0;
  for (const [session, { types }] of sessions) {
    if (some.length > 0 && subjects + types > SUBJECTS_AT_ONCE) {
      yield some;
      some = [];
      subjects = 0;
    }
    some.push(session);
    subjects += types;
  }
  if (some.length > 0) yield some;
}
