import { LRUCache } from 'lru-cache';
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
import type {
  Appended,
  AppendOptions,
  LearningLog,
  ReadRange,
  ReadResult,
  SessionLog,
  Unwatch,
} from '../../engine/ports/session-log.js';
import { followSessions } from '../connection/connect-nats.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { eraseMessages } from '../jetstream/erase-messages.js';
import { KeyStreams } from '../jetstream/key-streams.js';
import { listedStreams } from '../jetstream/list-streams.js';
import {
  newestInShard,
  type ShardCounts,
  sessionsInShards,
  shardCounts,
} from '../jetstream/shard-sessions.js';
import {
  createLearningsStream,
  createLogStream,
  newestProjectSnapshot,
  newestSnapshot,
  type TopologyOptions,
} from '../jetstream/topology.js';
import { type ForgottenSessions, firstSequenceAbove, NONE_FORGOTTEN } from './lifecycle-view.js';
import { type EventLogPorts, type LogLayout, NatsEventLog } from './nats-event-log.js';

/** Evicting costs a conflict if the newest event of a key is gone, and a check of the stream's identity. */
const MAX_READ = 10_000;

interface Read {
  readonly through: number;
  readonly epoch: string | undefined;
}

interface SharedLayout<Event> extends LogLayout<Event> {
  /**
   * When the identity of the stream is checked: for each append with an expectation and each read that finds something, or only
   * after a conflict. Otherwise a replacement is noticed within seconds.
   */
  readonly asksForStream: 'always' | 'after_conflict';
  /** True if each key has its own stream, with files that can be deleted. */
  readonly hasOwnStreams?: boolean;
}

/**
 * Logs in streams that keys may share, separated by subjects. The expected sequence is the last one among the key's own
 * subjects; every writer uses the same filter, so the comparison is sound.
 */
export abstract class NatsSharedLog<Event extends { readonly type: string }> extends NatsEventLog<Event> {
  readonly #ports: EventLogPorts;
  readonly #layout: SharedLayout<Event>;
  /** Cursor of each key in this process, with the epoch of its stream. */
  readonly #read = new LRUCache<Token, Read>({ max: MAX_READ });

  constructor(ports: EventLogPorts, layout: SharedLayout<Event>, streams: KeyStreams) {
    super(ports, layout, streams);
    this.#ports = ports;
    this.#layout = layout;
  }

  override append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence } = options;
    if (expectedSequence === undefined) return super.append(key, event, options);
    return this.#appendExpecting(key, event, options, expectedSequence);
  }

  async #appendExpecting(
    key: Token,
    event: Event,
    options: AppendOptions,
    expectedSequence: number,
  ): Promise<Appended> {
    const read = this.#read.get(key);
    const asks = this.#layout.asksForStream === 'always' && expectedSequence > 0;
    if (asks && (await this.#isAnother(key, read))) return { outcome: 'conflict' };
    const appended = await super.append(key, event, options);
    if (appended.outcome !== 'conflict' || expectedSequence !== read?.through) return appended;
    // The last event read may have been removed without a newer one, or be known only from the snapshot.
    const last = await this.newest(key);
    if (last >= expectedSequence || (await this.#isAnother(key, read))) return appended;
    return this.appendDecided(
      key,
      event,
      { after: expectedSequence },
      { ...options, expectedSequence: last },
    );
  }

  override async read(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    let read = await super.read(key, range);
    // Never fold events of a replaced stream onto those of the earlier one.
    const asks = this.#layout.asksForStream === 'always' && read.through > range.after;
    if (asks && read.epoch !== (await this.#epoch(key))) {
      this.invalidate(key);
      read = await super.read(key, range);
    }
    // A read of some types says nothing about the events in between.
    if (range.type === undefined && range.commands !== true)
      this.#read.set(key, { through: read.through, epoch: read.epoch });
    return read;
  }

  /** Erases one by one in a shared stream: a purge would leave the text in files that also hold other keys. */
  override removeBefore(key: Token, sequence: number, mayGoOn?: () => void): Promise<number> {
    const { stream, subjects, hasOwnStreams = false } = this.#layout;
    if (hasOwnStreams) return super.removeBefore(key, sequence);
    const options = { through: sequence - 1, unhurried: true, ...(mayGoOn && { mayGoOn }) };
    return eraseMessages(this.#ports, stream(key), subjects(key), options);
  }

  /** Detects a replaced stream: a decision on the old one must not be stored in the new one. */
  async #isAnother(key: Token, read: Read | undefined): Promise<boolean> {
    if (read === undefined || read.epoch === (await this.#epoch(key))) return false;
    this.invalidate(key);
    return true;
  }

  async #epoch(key: Token): Promise<string | undefined> {
    const { stream, format } = this.#layout;
    const asked = this.#ports.jsm.streams.info(stream(key));
    return (await ifExists(asked, `asking for the stream of ${format.kind} ${key}`))?.created;
  }
}

interface SessionLogOptions extends TopologyOptions {
  /** Default: none is forgotten. */
  readonly lifecycle?: ForgottenSessions;
}

/** The logs of sessions. The layout decides only which stream holds a session and how sessions are listed. */
export class NatsSessionLog extends NatsSharedLog<SessionEvent> implements SessionLog, SessionActivity {
  readonly #ports: EventLogPorts;
  readonly #layout: SessionLayout;
  /** Cache of a shard's sessions: valid while their number of events is the same. */
  readonly #active = new Map<Token, Counted>();

  constructor(ports: EventLogPorts, layout: SessionLayout, options: SessionLogOptions) {
    const { jsm } = ports;
    const { lifecycle = NONE_FORGOTTEN } = options;
    const floor = firstSequenceAbove(lifecycle);
    const stream = (session: Token) => streamOf(layout, session);
    const streams = new KeyStreams(jsm, {
      nameOf: stream,
      make(name, highest) {
        // The next log of a forgotten session starts above the old one.
        const own = sessionOfStream(name);
        const least = Math.max(highest, own === undefined ? 0 : floor(own));
        return createLogStream(jsm, layout, name, least, options);
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
  }

  async sessions(): Promise<Token[]> {
    const { jsm } = this.#ports;
    return this.#listed(async () => {
      if (this.#layout.layout === 'sharded') return (await sessionsInShards(jsm, this.#layout.shards)).sort();
      const sessions: Token[] = [];
      for await (const name of jsm.streams.names(ALL_SESSIONS)) {
        const session = sessionOfStream(name);
        if (session !== undefined) sessions.push(session);
      }
      return sessions.sort();
    });
  }

  activity(): Promise<(ActiveSession | LeaderlessSession)[]> {
    return this.#listed(async () =>
      this.#layout.layout === 'sharded'
        ? this.#inShards(this.#layout.shards)
        : activeOf(await listedStreams(this.#ports.jsm, ALL_SESSIONS)),
    );
  }

  follow(onMoved: (session: Token) => void, onDenied?: () => void): Unwatch {
    return followSessions(this.#ports.connection, this.#layout.layout, onMoved, onDenied);
  }

  async #inShards(shards: number): Promise<ActiveSession[]> {
    const seen = new Set<Token>();
    for await (const shard of shardCounts(this.#ports.jsm, shards)) {
      for (const session of shard.sessions.keys()) seen.add(session);
      await this.#refresh(shard);
    }
    for (const session of [...this.#active.keys()]) if (!seen.has(session)) this.#active.delete(session);
    return [...this.#active.values()].map(({ active }) => active);
  }

  /** Requests the newest event of each session whose number of events has changed. */
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

export class NatsLearningLog extends NatsSharedLog<LearningEvent> implements LearningLog {
  readonly #ports: EventLogPorts;

  constructor(ports: EventLogPorts, options: TopologyOptions) {
    const { jsm } = ports;
    const nameOf = () => LEARNINGS_STREAM;
    const streams = new KeyStreams(jsm, {
      nameOf,
      make: (_, highest) => createLearningsStream(jsm, highest, options),
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
