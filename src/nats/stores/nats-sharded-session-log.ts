import {
  sessionFamilySubjects,
  sessionSubject,
  sessionSubjects,
  shardIntake,
  shardOfStream,
  shardStream,
  type Token,
} from '../../contracts/names.js';
import { COMMAND_FAMILIES, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { shardOf } from '../../contracts/session-layout.js';
import type { Unwatch } from '../../ports/event-log.js';
import type { ActiveSession, SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import { followSessions } from '../connection/follow-sessions.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import {
  newestInShard,
  type ShardCounts,
  sessionsInShards,
  shardCounts,
} from '../jetstream/shard-sessions.js';
import { SharedLogStreams } from '../jetstream/shared-log-streams.js';
import { createShardStream, newestSnapshot, type TopologyOptions } from '../jetstream/topology.js';
import type { ForgottenSessions } from './forgotten-floor.js';
import type { EventLogPorts } from './nats-event-log.js';
import { NatsSharedLog } from './nats-shared-log.js';

export interface ShardOptions extends TopologyOptions {
  /** Number of shards: fixed for an installation. */
  readonly shards: number;
  /** Which sessions were forgotten. Default: none. */
  readonly forgotten?: ForgottenSessions;
}

/** The logs of all sessions in the streams `SESSIONS_00` …, each session in that of its shard. */
export class NatsShardedSessionLog
  extends NatsSharedLog<SessionEvent>
  implements SessionLog, SessionActivity
{
  readonly #ports: EventLogPorts;
  readonly #shards: number;
  /** As it was when each session had so many events: asked for again where there are others. */
  readonly #active = new Map<Token, Counted>();

  constructor(ports: EventLogPorts, options: ShardOptions) {
    const { jsm } = ports;
    const { shards, forgotten } = options;
    // Made once: a stream is asked for several times for each event.
    const names = Array.from({ length: shards }, (_, shard) => shardStream(shard));
    const stream = (session: Token) => {
      const shard = shardOf(session, shards);
      return names[shard] ?? shardStream(shard);
    };
    const streams = new SharedLogStreams(jsm, {
      nameOf: stream,
      make: (name, highest) =>
        createShardStream(jsm, { shard: shardOfStream(name) ?? 0, shards }, highest, options),
      snapshot: (session) => newestSnapshot(jsm, session),
    });
    const layout = {
      format: SESSION_EVENTS,
      stream,
      subjects: sessionSubjects,
      subject: sessionSubject,
      intake: (session: Token, type: string) => shardIntake(shardOf(session, shards), session, type),
      commands: (session: Token) => COMMAND_FAMILIES.map((family) => sessionFamilySubjects(session, family)),
      // As with a stream of its own: one request for each command would be too many.
      asksForStream: 'after_conflict',
      ...(forgotten !== undefined && { forgotten }),
    } as const;
    super(ports, layout, streams);
    this.#ports = ports;
    this.#shards = shards;
  }

  sessions(): Promise<Token[]> {
    return this.#listed(async () => (await sessionsInShards(this.#ports.jsm, this.#shards)).sort());
  }

  async activity(): Promise<ActiveSession[]> {
    const seen = new Set<Token>();
    await this.#listed(async () => {
      for await (const shard of shardCounts(this.#ports.jsm, this.#shards)) {
        for (const session of shard.sessions.keys()) seen.add(session);
        await this.#refresh(shard);
      }
    });
    for (const session of [...this.#active.keys()]) if (!seen.has(session)) this.#active.delete(session);
    return [...this.#active.values()].map(({ active }) => active);
  }

  /** Asks for the newest event of each session of a shard that has others than before. */
  async #refresh(shard: ShardCounts): Promise<void> {
    const { connection, timeoutMs } = this.#ports;
    const moved = [...shard.sessions].filter(
      ([session, { events }]) => this.#active.get(session)?.events !== events,
    );
    if (moved.length === 0) return;
    const found = await newestInShard(connection, { ...shard, sessions: new Map(moved) }, timeoutMs);
    for (const [session, { events }] of moved) {
      const newest = found.get(session);
      const at = newest?.headers?.last('Nats-Time-Stamp');
      const active =
        newest !== undefined && at !== undefined
          ? { session, sequence: newest.sequence, at: new Date(at).toISOString() }
          : await this.#leaderSays(session);
      if (active !== undefined) this.#active.set(session, { active, events });
    }
  }

  async #leaderSays(session: Token): Promise<ActiveSession | undefined> {
    const newest = await this.newestStored(session);
    return newest && { session, sequence: newest.seq, at: newest.time.toISOString() };
  }

  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch {
    return followSessions(this.#ports.connection, 'sharded', onMoved, onDenied);
  }

  async #listed<T>(list: () => Promise<T>): Promise<T> {
    try {
      return await list();
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
  }
}

interface Counted {
  readonly active: ActiveSession;
  readonly events: number;
}
