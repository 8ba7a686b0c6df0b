import {
  ALL_SESSIONS,
  ALL_SHARDS,
  sessionFamilySubjects,
  sessionOfSubject,
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
import { toThroughlineError } from '../connection/nats-errors.js';
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
    const { jsm } = this.#ports;
    const found = new Set<Token>();
    try {
      for await (const name of jsm.streams.names(ALL_SHARDS)) {
        const shard = shardOfStream(name);
        if (shard === undefined) continue;
        const { state } = await jsm.streams.info(name, { subjects_filter: ALL_SESSIONS });
        for (const subject of Object.keys(state.subjects ?? {})) {
          const session = sessionOfSubject(subject);
          if (session !== undefined && shardOf(session, this.#shards) === shard) found.add(session);
        }
      }
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
    return [...found].sort();
  }
}
