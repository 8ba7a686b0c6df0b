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
import type { SessionLog } from '../../ports/session-log.js';
import { shardSessions } from '../jetstream/shard-sessions.js';
import { SharedLogStreams } from '../jetstream/shared-log-streams.js';
import { createShardStream, newestSnapshot, type TopologyOptions } from '../jetstream/topology.js';
import type { EventLogPorts } from './nats-event-log.js';
import { NatsSharedLog } from './nats-shared-log.js';

export interface ShardOptions extends TopologyOptions {
  /** Number of shards: fixed for an installation. */
  readonly shards: number;
}

/** The logs of all sessions in the streams `SESSIONS_00` …, each session in that of its shard. */
export class NatsShardedSessionLog extends NatsSharedLog<SessionEvent> implements SessionLog {
  readonly #ports: EventLogPorts;
  readonly #shards: number;

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
    return [...(await shardSessions(this.#ports.jsm, this.#shards))].sort();
  }
}
