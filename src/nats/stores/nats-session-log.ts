import {
  ALL_SESSIONS,
  sessionFamilySubjects,
  sessionOfStream,
  sessionStream,
  sessionSubject,
  sessionSubjects,
  type Token,
} from '../../contracts/names.js';
import { COMMAND_FAMILIES, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import type { Unwatch } from '../../ports/event-log.js';
import type { ActiveSession, LeaderlessSession, SessionActivity } from '../../ports/session-activity.js';
import type { SessionLog } from '../../ports/session-log.js';
import { followSessions } from '../connection/follow-sessions.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { listedStreams } from '../jetstream/list-streams.js';
import { LogStreams } from '../jetstream/log-streams.js';
import { createSessionStream, type TopologyOptions } from '../jetstream/topology.js';
import { beginsAbove, type ForgottenSessions, NONE_FORGOTTEN } from './forgotten-floor.js';
import { type EventLogPorts, type LogLayout, NatsEventLog } from './nats-event-log.js';

/** Each session's log as a stream of its own, `SESSION_<session>`. */
export class NatsSessionLog extends NatsEventLog<SessionEvent> implements SessionLog, SessionActivity {
  readonly #ports: EventLogPorts;

  /** @param forgotten which sessions were forgotten: the next log of one begins above the one before. Default: none */
  constructor(ports: EventLogPorts, options: TopologyOptions, forgotten: ForgottenSessions = NONE_FORGOTTEN) {
    const floor = beginsAbove(forgotten);
    const lifeOf = (session: Token) => forgotten.of(session)?.at ?? '';
    const layout: LogLayout<SessionEvent> = {
      format: SESSION_EVENTS,
      stream: sessionStream,
      subjects: sessionSubjects,
      subject: sessionSubject,
      // A consumer's delivery is stored under the subject that it came from: not ours, but the last sequence then.
      read: () => '>',
      commands: (session) => COMMAND_FAMILIES.map((family) => sessionFamilySubjects(session, family)),
      expecting: (_, expectedLastSequence) => ({ expectedLastSequence }),
      messageId: (_, id) => id,
      forgotten,
    };
    const make = (session: Token, highest: number) =>
      createSessionStream(ports.jsm, session, Math.max(highest, floor(session)), options);
    super(ports, layout, new LogStreams(ports.jsm, { nameOf: sessionStream, make, lifeOf }));
    this.#ports = ports;
  }

  async sessions(): Promise<Token[]> {
    const sessions: Token[] = [];
    try {
      for await (const name of this.#ports.jsm.streams.names(ALL_SESSIONS)) {
        const session = sessionOfStream(name);
        if (session !== undefined) sessions.push(session);
      }
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
    return sessions.sort();
  }

  async activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    const all: (ActiveSession | LeaderlessSession)[] = [];
    try {
      const { found, leaderless } = await listedStreams(this.#ports.jsm, ALL_SESSIONS);
      for (const { config, created, state } of found) {
        const session = sessionOfStream(config.name);
        if (session === undefined) continue;
        const at = state.messages === 0 ? created : state.last_ts;
        all.push({ session, sequence: state.last_seq, at: new Date(at).toISOString() });
      }
      for (const name of leaderless) {
        const session = sessionOfStream(name);
        if (session !== undefined) all.push({ session, sequence: undefined });
      }
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
    return all;
  }

  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch {
    return followSessions(this.#ports.connection, 'per-session', onMoved, onDenied);
  }
}
