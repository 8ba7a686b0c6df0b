import type { StreamInfo } from 'nats';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import {
  ALL_SESSIONS,
  LEARNINGS_STREAM,
  LEARNINGS_SUBJECTS,
  learningSubject,
  learningSubjects,
  projectOfSubject,
  publishedOn,
  type SessionLayout,
  sessionFamilySubjects,
  sessionOfStream,
  sessionSubject,
  sessionSubjects,
  streamOf,
  type Token,
} from '../../contracts/names.js';
import { COMMAND_FAMILIES, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import type {
  ActiveSession,
  LeaderlessSession,
  SessionActivity,
} from '../../engine/ports/session-lifecycle.js';
import type { LearningLog, SessionLog, Unwatch } from '../../engine/ports/session-log.js';
import { followSessions } from '../connection/connect-nats.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { KeyStreams } from '../jetstream/key-streams.js';
import { listedStreams } from '../jetstream/list-streams.js';
import { ShardActivity } from '../jetstream/shard-sessions.js';
import {
  createLearningsStream,
  createLogStream,
  newestProjectSnapshot,
  newestSnapshot,
  type StorePorts,
} from '../jetstream/topology.js';
import { firstSequenceAbove, NONE_FORGOTTEN } from './forgotten-sessions.js';
import { NatsEventLog } from './nats-event-log.js';

/** The logs of sessions. The layout decides only which stream holds a session and how sessions are listed. */
export class NatsSessionLog extends NatsEventLog<SessionEvent> implements SessionLog, SessionActivity {
  readonly #ports: StorePorts;
  readonly #layout: SessionLayout;
  readonly #shards: ShardActivity;

  /** @param lifecycle default: none is forgotten */
  constructor(ports: StorePorts, layout: SessionLayout, lifecycle = NONE_FORGOTTEN) {
    const { jsm } = ports;
    const floor = firstSequenceAbove(lifecycle);
    const stream = (session: Token) => streamOf(layout, session);
    const streams = new KeyStreams(jsm, {
      nameOf: stream,
      make(name, highest) {
        // The next log of a forgotten session starts above the old one.
        const own = sessionOfStream(name);
        const least = Math.max(highest, own === undefined ? 0 : floor(own));
        return createLogStream(jsm, layout, name, least, ports);
      },
      snapshot: (session) => newestSnapshot(jsm, session),
      generationOf: (session) => lifecycle.forgotten(session)?.at ?? '',
    });
    super(
      ports,
      {
        format: SESSION_EVENTS,
        stream,
        subjects: sessionSubjects,
        subject: sessionSubject,
        intake: (session, type) => publishedOn(layout, session, type),
        commands: (session) => COMMAND_FAMILIES.map((family) => sessionFamilySubjects(session, family)),
        // Avoids one more request per command.
        asksForStream: 'after_conflict',
        hasOwnStreams: layout.layout === 'per-session',
        lifecycle,
      },
      streams,
    );
    this.#ports = ports;
    this.#layout = layout;
    this.#shards = new ShardActivity(ports);
  }

  async activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    const layout = this.#layout;
    try {
      if (layout.layout === 'sharded') return await this.#shards.activity(layout.shards);
      return activeOf(await listedStreams(this.#ports.jsm, ALL_SESSIONS));
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
  }

  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch {
    return followSessions(this.#ports.connection, this.#layout.layout, onMoved, onDenied);
  }
}

function activeOf({ found, leaderless }: { readonly found: StreamInfo[]; readonly leaderless: string[] }) {
  const all: (ActiveSession | LeaderlessSession)[] = [];
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
  return all;
}

export class NatsLearningLog extends NatsEventLog<LearningEvent> implements LearningLog {
  readonly #ports: StorePorts;

  constructor(ports: StorePorts) {
    const { jsm } = ports;
    const nameOf = () => LEARNINGS_STREAM;
    const streams = new KeyStreams(jsm, {
      nameOf,
      make: (_, highest) => createLearningsStream(jsm, highest, ports),
      snapshot: (project) => newestProjectSnapshot(jsm, project),
    });
    const layout = {
      format: LEARNING_EVENTS,
      stream: nameOf,
      subjects: learningSubjects,
      subject: learningSubject,
      // Learnings are few, and a decision based on lost ones would never be revised.
      asksForStream: 'always',
    } as const;
    super(ports, layout, streams);
    this.#ports = ports;
  }

  async projects(): Promise<Token[]> {
    const asked = this.#ports.jsm.streams.info(LEARNINGS_STREAM, { subjects_filter: LEARNINGS_SUBJECTS });
    const { state } = (await ifExists(asked, 'listing the projects')) ?? {};
    const projects = Object.keys(state?.subjects ?? {}).flatMap((subject) => projectOfSubject(subject) ?? []);
    return [...new Set(projects)].sort();
  }
}
