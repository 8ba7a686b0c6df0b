import type { StoredMsg } from 'nats';
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
import type { ActiveSession, SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { newestMessage } from '../jetstream/newest-message.js';
import { sessionCounts } from '../jetstream/shard-sessions.js';
import { SharedLogStreams } from '../jetstream/shared-log-streams.js';
import { createShardStream, newestSnapshot, type TopologyOptions } from '../jetstream/topology.js';
import type { EventLogPorts } from './nats-event-log.js';
import { NatsSharedLog } from './nats-shared-log.js';

export interface ShardOptions extends TopologyOptions {
  /** Number of shards: fixed for an installation. */
  readonly shards: number;
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
    const { shards } = options;
    const stream = (session: Token) => shardStream(shardOf(session, shards));
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
    } as const;
    super(ports, layout, streams);
    this.#ports = ports;
    this.#shards = shards;
  }

  async sessions(): Promise<Token[]> {
    const counts = await this.#listed(() => sessionCounts(this.#ports.jsm, this.#shards));
    return [...counts.keys()].sort();
  }

  async activity(): Promise<ActiveSession[]> {
    const counts = await this.#listed(() => sessionCounts(this.#ports.jsm, this.#shards));
    for (const session of [...this.#active.keys()]) if (!counts.has(session)) this.#active.delete(session);
    const moved = [...counts].filter(([session, count]) => this.#active.get(session)?.count !== count);
    for (let at = 0; at < moved.length; at += ASKED_AT_ONCE) {
      const asked = moved.slice(at, at + ASKED_AT_ONCE).map(async ([session, count]) => {
        const newest = await this.#newest(session);
        if (newest === undefined) return;
        const active = { session, sequence: newest.seq, at: newest.time.toISOString() };
        this.#active.set(session, { active, count });
      });
      await Promise.all(asked);
    }
    return [...this.#active.values()].map(({ active }) => active);
  }

  async newest(session: Token): Promise<number> {
    return (await this.#newest(session))?.seq ?? 0;
  }

  async #newest(session: Token): Promise<StoredMsg | undefined> {
    const { jsm } = this.#ports;
    try {
      const stream = shardStream(shardOf(session, this.#shards));
      return await newestMessage(jsm, stream, sessionSubjects(session));
    } catch (error) {
      throw toThroughlineError(error, `reading session ${session}`);
    }
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
  readonly count: number;
}

const ASKED_AT_ONCE = 64;
