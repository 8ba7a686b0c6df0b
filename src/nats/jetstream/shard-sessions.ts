import type { JetStreamManager } from 'nats';
import * as names from '../../contracts/names.js';
import type { ActiveSession } from '../../engine/ports/session-log.js';
import { batchFrom, type StreamMessage } from './direct-get.js';
import type { ErasePorts } from './erase-messages.js';
import { newestMessage } from './newest-page.js';

interface ShardCounts {
  readonly stream: string;
  readonly last: number;
  readonly sessions: ReadonlyMap<names.Token, SessionCount>;
}

interface SessionCount {
  readonly events: number;
  readonly types: number;
}

/** Counts the events of all sessions, shard by shard. Throws the client's errors. */
async function* shardCounts(jsm: JetStreamManager, shards: number): AsyncGenerator<ShardCounts> {
  for await (const stream of jsm.streams.names(names.ALL_SHARDS)) {
    const shard = names.shardOfStream(stream);
    if (shard === undefined) continue;
    const { state } = await jsm.streams.info(stream, { subjects_filter: names.ALL_SESSIONS });
    const sessions = new Map<names.Token, SessionCount>();
    for (const [subject, count] of Object.entries(state.subjects ?? {})) {
      const session = names.sessionOfSubject(subject);
      if (session === undefined || names.shardOf(session, shards) !== shard) continue;
      const { events = 0, types = 0 } = sessions.get(session) ?? {};
      sessions.set(session, { events: events + count, types: types + 1 });
    }
    yield { stream, last: state.last_seq, sessions };
  }
}

interface Counted {
  readonly active: ActiveSession;
  readonly events: number;
}

/** Tells how far each session in shards has come, with few requests: it asks again only for those whose count has changed. */
export function shardActivity({ connection, jsm, timeoutMs }: ErasePorts) {
  const kept = new Map<names.Token, Counted>();

  /** Requests the newest event of each session whose number of events has changed. */
  async function refresh(shard: ShardCounts): Promise<void> {
    const moved = [...shard.sessions].filter(([session, { events }]) => kept.get(session)?.events !== events);
    if (moved.length === 0) return;
    const found = await newestInShard({ ...shard, sessions: new Map(moved) });
    for (const [session, { events }] of moved) {
      const newest = found.get(session);
      const at = newest?.headers?.last('Nats-Time-Stamp');
      const active =
        newest !== undefined && at !== undefined
          ? { session, sequence: newest.sequence, at: new Date(at).toISOString() }
          : await leaderSays(shard.stream, session);
      if (active !== undefined) kept.set(session, { active, events });
    }
  }

  /** Returns the newest message of some sessions, except where a lagging replica answers. Throws as `readStream`. */
  async function newestInShard({ stream, last, sessions }: ShardCounts) {
    const newest = new Map<names.Token, StreamMessage>();
    for (const some of portions(sessions)) {
      const wanted = { multi_last: some.map(names.sessionSubjects) };
      const { messages, pending, upTo } = await batchFrom({ connection, stream, timeoutMs }, wanted);
      if (upTo < last || pending > 0) continue;
      for (const message of messages) {
        const session = names.sessionOfSubject(message.subject);
        if (session !== undefined && message.sequence > (newest.get(session)?.sequence ?? 0))
          newest.set(session, message);
      }
    }
    return newest;
  }

  async function leaderSays(stream: string, session: names.Token): Promise<ActiveSession | undefined> {
    const newest = await newestMessage(jsm, stream, names.sessionSubjects(session));
    return newest && { session, sequence: newest.seq, at: newest.time.toISOString() };
  }

  return async (shards: number): Promise<ActiveSession[]> => {
    const seen = new Set<names.Token>();
    for await (const shard of shardCounts(jsm, shards)) {
      for (const session of shard.sessions.keys()) seen.add(session);
      await refresh(shard);
    }
    for (const session of [...kept.keys()]) if (!seen.has(session)) kept.delete(session);
    return [...kept.values()].map(({ active }) => active);
  };
}

/** The server allows 1,024 subjects per request; some may be added after the count. */
const SUBJECTS_AT_ONCE = 500;

function* portions(sessions: ReadonlyMap<names.Token, SessionCount>): Generator<names.Token[]> {
  let some: names.Token[] = [];
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
