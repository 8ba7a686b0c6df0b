import type { StreamInfo } from 'nats';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import * as names from '../../contracts/names.js';
import { RESULT_PATHS, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import { NONE_FORGOTTEN } from '../../engine/ports/session-lifecycle.js';
import type {
  ActiveSession,
  LeaderlessSession,
  LearningLog,
  NewestAt,
  NewestResults,
  SessionActivity,
  SessionLog,
  Unwatch,
} from '../../engine/ports/session-log.js';
import { followEvents } from '../connection/connect-nats.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { batchFrom } from '../jetstream/direct-get.js';
import { KeyStreams } from '../jetstream/key-streams.js';
import { listedStreams } from '../jetstream/list-streams.js';
import { shardActivity } from '../jetstream/shard-sessions.js';
import {
  createLearningsStream,
  createLogStream,
  newestSnapshot,
  type StorePorts,
} from '../jetstream/topology.js';
import { NatsEventLog } from './nats-event-log.js';

/** The logs of sessions. The layout decides only which stream holds a session and how sessions are listed. */
export class NatsSessionLog
  extends NatsEventLog<SessionEvent>
  implements SessionLog, SessionActivity, NewestResults
{
  readonly #ports: StorePorts;
  readonly #layout: names.SessionLayout;
  readonly #shards: ReturnType<typeof shardActivity>;

  /** @param lifecycle default: none is forgotten */
  constructor(ports: StorePorts, layout: names.SessionLayout, lifecycle = NONE_FORGOTTEN) {
    const { jsm } = ports;
    const stream = (session: names.Token) => names.streamOf(layout, session);
    const streams = new KeyStreams(jsm, {
      nameOf: stream,
      make(name, highest) {
        // The next log of a forgotten session starts above the old one.
        const session = names.sessionOfStream(name);
        const last = session === undefined ? undefined : lifecycle.forgotten(session)?.sequence;
        return createLogStream(jsm, layout, name, Math.max(highest, last ?? 0), ports);
      },
      snapshot: (session) => newestSnapshot(jsm, session),
      generationOf: (session) => lifecycle.forgotten(session)?.at ?? '',
    });
    super(
      ports,
      {
        format: SESSION_EVENTS,
        stream,
        subject: names.sessionSubject,
        intake: (session, path) => names.publishedOn(layout, session, path),
        // Avoids one more request per command.
        asksForStream: 'after_conflict',
        hasOwnStreams: layout.layout === 'per-session',
        lifecycle,
      },
      streams,
    );
    this.#ports = ports;
    this.#layout = layout;
    this.#shards = shardActivity(ports);
  }

  async newestResults(session: names.Token): Promise<NewestAt[]> {
    const { connection, timeoutMs } = this.#ports;
    const wanted = { multi_last: [names.sessionSubject(session, RESULT_PATHS)] };
    const stream = names.streamOf(this.#layout, session);
    const { messages } = await batchFrom(connection, stream, wanted, timeoutMs).catch((error: unknown) => {
      throw toThroughlineError(error, `reading session ${session}`);
    });
    const before = names.sessionSubject(session, '').length;
    return messages.map((message) => ({
      path: message.subject.slice(before),
      sequence: message.sequence,
      event: this.eventIn(session, message)?.event,
    }));
  }

  async activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    const layout = this.#layout;
    try {
      if (layout.layout === 'sharded') return await this.#shards(layout.shards);
      return activeOf(await listedStreams(this.#ports.jsm, names.ALL_SESSIONS));
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
  }

  follow(onMoved: (session: names.Token) => void): Unwatch {
    return followEvents(this.#ports.connection, onMoved, [names.PUBLISHED_EVENTS[this.#layout.layout]]);
  }
}

function activeOf({ found, leaderless }: { readonly found: StreamInfo[]; readonly leaderless: string[] }) {
  const all: (ActiveSession | LeaderlessSession)[] = [];
  for (const { config, created, state } of found) {
    const session = names.sessionOfStream(config.name);
    if (session === undefined) continue;
    const at = state.messages === 0 ? created : state.last_ts;
    all.push({ session, sequence: state.last_seq, at: new Date(at).toISOString() });
  }
  for (const name of leaderless) {
    const session = names.sessionOfStream(name);
    if (session !== undefined) all.push({ session, sequence: undefined });
  }
  return all;
}

export class NatsLearningLog extends NatsEventLog<LearningEvent> implements LearningLog {
  readonly #ports: StorePorts;

  constructor(ports: StorePorts) {
    const { jsm } = ports;
    const nameOf = () => names.LEARNINGS_STREAM;
    const streams = new KeyStreams(jsm, {
      nameOf,
      make: (_, highest) => createLearningsStream(jsm, highest, ports),
      snapshot: (project) => newestSnapshot(jsm, names.PROJECT_KEY + project),
    });
    const layout = {
      format: LEARNING_EVENTS,
      stream: nameOf,
      subject: names.learningSubject,
      // Learnings are few, and a decision based on lost ones would never be revised.
      asksForStream: 'always',
    } as const;
    super(ports, layout, streams);
    this.#ports = ports;
  }

  async projects(): Promise<names.Token[]> {
    const request = this.#ports.jsm.streams.info(names.LEARNINGS_STREAM, {
      subjects_filter: names.LEARNINGS_SUBJECTS,
    });
    const { state } = (await ifExists(request, 'listing the projects')) ?? {};
    const projects = Object.keys(state?.subjects ?? {}).flatMap(
      (subject) => names.projectOfSubject(subject) ?? [],
    );
    return [...new Set(projects)].sort();
  }
}
