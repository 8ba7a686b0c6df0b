import { LRUCache } from 'lru-cache';
import type { StoredMsg, StreamInfo } from 'nats';
import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import { type EventFormat, readEvent, type Stored, writeEvent } from '../../contracts/event.js';
import { LEARNING_EVENTS, type LearningEvent } from '../../contracts/learning-events.js';
import type { Token } from '../../contracts/names.js';
import * as names from '../../contracts/names.js';
import { RESULT_PATHS, SESSION_EVENTS, type SessionEvent } from '../../contracts/session-events.js';
import type { ForgottenSessions } from '../../engine/ports/session-lifecycle.js';
import type {
  ActiveSession,
  Appended,
  AppendOptions,
  EventLog,
  EventRemoval,
  LeaderlessSession,
  LearningLog,
  NewestAt,
  NewestResults,
  ReadRange,
  ReadResult,
  SessionActivity,
  SessionLog,
  Unwatch,
} from '../../engine/ports/session-log.js';
import { pause } from '../../engine/runtime/pacing.js';
import { followEvents, listenerOn } from '../connection/connect-nats.js';
import { failedWhile } from '../connection/failed-while.js';
import { API, apiCode, ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { PubOutcome } from '../jetstream/acked-publisher.js';
import { batchFrom, readStream, readTail, type StreamMessage } from '../jetstream/direct-get.js';
import { eraseMessages } from '../jetstream/erase-messages.js';
import { KeyStreams, type LogStream } from '../jetstream/key-streams.js';
import { listedStreams } from '../jetstream/list-streams.js';
import { newestMessage } from '../jetstream/newest-page.js';
import { shardActivity } from '../jetstream/shard-sessions.js';
import {
  createLearningsStream,
  createLogStream,
  newestSnapshot,
  type StorePorts,
} from '../jetstream/topology.js';
import { generationOf, NONE_FORGOTTEN } from './nats-session-lifecycle.js';

const LAG_PAUSE_MS = 2;
/** After this time the leader is asked if the message still exists. */
const LONG_LAG_MS = 100;

interface LogLayout<Event> {
  readonly format: EventFormat<Event>;
  /** Subject of a place, or of those that a filter matches. */
  readonly subject: (key: Token, path: string) => string;
  readonly stream: (key: Token) => string;
  /** Subject to publish to, if the stream stores events under other subjects. */
  readonly intake?: (key: Token, path: string) => string;
  /** Forgotten keys: no append of an earlier generation is stored after them. Default: none. */
  readonly lifecycle?: ForgottenSessions;
  /**
   * When the identity of the stream is checked: for each append with an expectation and each read that finds something, or only
   * after a conflict. Otherwise a replacement is noticed within seconds.
   */
  readonly asksForStream: 'always' | 'after_conflict';
  /** True if each key has its own stream, with files that can be deleted. */
  readonly hasOwnStreams?: boolean;
}

/** Evicting costs a conflict if the newest event of a key is gone, and a check of the stream's identity. */
const MAX_READ = 10_000;

/** Identifies a stream; `undefined` while there is none. */
type Epoch = string | undefined;

/** An append, as it is published: only the bytes of its event are retained until the PubAck, since thousands may be in flight. */
interface Append {
  readonly options: AppendOptions;
  readonly subject: string;
  /** The subject that the stream stores it under. */
  readonly storedOn: string;
  readonly body: Uint8Array;
  /** Filter of the subjects whose newest event it expects. */
  readonly expectedOn: string;
  /** The key's generation when the append began; `undefined` if its expectation proves it. */
  readonly generation: string | undefined;
}

/**
 * Event logs: each is a stream, created on the first append, and subjects of a key in it. Keys may share a stream. Any replica
 * answers a read and may lag: it is asked again until it shows what this process has appended or was told by `newest`.
 */
class NatsEventLog<Event extends { readonly type: string }> implements EventLog<Event>, EventRemoval {
  protected readonly ports: StorePorts;
  readonly #layout: LogLayout<Event>;
  readonly #streams: KeyStreams;
  readonly #read = new LRUCache<Token, string>({ max: MAX_READ });

  constructor(ports: StorePorts, layout: LogLayout<Event>, streams: KeyStreams) {
    this.ports = ports;
    this.#layout = layout;
    this.#streams = streams;
  }

  append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { subject, intake = subject, format } = this.#layout;
    const { expectedSequence } = options;
    const path = format.pathOf(event);
    const expected = format.expectedAt(path) ?? path;
    const storedOn = subject(key, path);
    const append = {
      options,
      subject: intake(key, path),
      storedOn,
      expectedOn: expected === path ? storedOn : subject(key, expected),
      body: writeEvent(format, key, event, expectedSequence),
      // An expected event exists in its own generation alone.
      generation: expectedSequence ? undefined : this.#generation(key),
    };
    // A writer of results looks for the reason of a conflict itself.
    if (!options.expectedSequence || append.expectedOn === append.storedOn) return this.#append(key, append);
    return this.#appendExpecting(key, append, options.expectedSequence);
  }

  #generation(key: Token): string | undefined {
    const { lifecycle } = this.#layout;
    return lifecycle && generationOf(lifecycle, key);
  }

  async #appendExpecting(key: Token, append: Append, expectedSequence: number): Promise<Appended> {
    const generation = this.#generation(key);
    const read = this.#read.get(key);
    const asks = this.#layout.asksForStream === 'always';
    if (asks && (await this.#isAnother(key, read))) return { outcome: 'conflict' };
    const appended = await this.#append(key, append);
    if (appended.outcome !== 'conflict' || read === undefined) return appended;
    // The last event read may have been removed without a newer one, or be known only from the snapshot.
    const last = (await this.#newestAt(key, append.expectedOn))?.seq ?? 0;
    if (last >= expectedSequence || (await this.#isAnother(key, read))) return appended;
    const options = { ...append.options, expectedSequence: last };
    return this.#append(key, { ...append, options, generation });
  }

  /** Detects a replaced stream: a decision on the old one must not be stored in the new one. */
  async #isAnother(key: Token, read: Epoch): Promise<boolean> {
    if (read === undefined || read === (await this.#epoch(key))) return false;
    this.#streams.invalidate(key);
    return true;
  }

  async #epoch(key: Token): Promise<Epoch> {
    const { stream, format } = this.#layout;
    const request = this.ports.jsm.streams.info(stream(key));
    return (await ifExists(request, `asking for the stream of ${format.kind} ${key}`))?.created;
  }

  /** Callbacks instead of async functions, which would retain more per pending PubAck. */
  #append(key: Token, append: Append, isReady = this.#streams.present(key)): Promise<Appended> {
    if (!isReady) return this.#streams.ensure(key).then(() => this.#append(key, append, true));
    const { expectedSequence } = append.options;
    if (expectedSequence !== undefined) this.#streams.reached(key, expectedSequence, 'read');
    const before = this.#streams.highest(key);
    return this.#publish(key, append).then(
      (published) =>
        this.#stored(key, published, before) ?? this.#retryOrConflict(key, append, published, before),
      (error: unknown) => this.#failed(key, error),
    );
  }

  /** Maps a stored event; `undefined` if it was not stored. Throws if readers have passed its sequence. */
  #stored(key: Token, published: PubOutcome, before: number): Appended | undefined {
    if (published.outcome !== 'stored') return undefined;
    const { sequence, duplicate } = published;
    if (!duplicate && sequence <= before) {
      this.#streams.missed(key);
      const stream = this.#layout.stream(key);
      throw new ThroughlineError('unavailable', `stream ${stream} went back to lower numbers during a write`);
    }
    this.#streams.reached(key, sequence, 'leader');
    return { outcome: 'appended', sequence };
  }

  async #retryOrConflict(key: Token, append: Append, first: PubOutcome, before: number): Promise<Appended> {
    let published = first;
    if (published.outcome === 'no_stream') {
      this.#streams.missed(key);
      await this.#streams.ensure(key);
      published = await this.#publish(key, append).catch((error: unknown) => this.#failed(key, error));
    }
    const appended = this.#stored(key, published, before);
    if (appended !== undefined) return appended;
    if (published.outcome === 'no_stream')
      throw new ThroughlineError(
        'unavailable',
        `stream ${this.#layout.stream(key)} was created, but has no subject for events`,
      );
    // The stream may have been replaced.
    this.#streams.invalidate(key);
    return { outcome: 'conflict' };
  }

  async read(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    let read = await this.#readOnce(key, range);
    // Never fold events of a replaced stream onto those of the earlier one.
    const asks = this.#layout.asksForStream === 'always' && read.through > range.after;
    if (asks && read.epoch !== (await this.#epoch(key))) {
      this.#streams.invalidate(key);
      read = await this.#readOnce(key, range);
    }
    // A read of some places says nothing about the events in between.
    if (range.at === undefined) this.#read.set(key, read.epoch);
    return read;
  }

  async #readOnce(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    const { after } = range;
    const stream = await this.#streams.find(key);
    if (stream === undefined) return { events: [], through: after, skipped: 0 };
    const messages = await this.#messages(key, stream, range);
    const events = messages.flatMap((message) => this.eventIn(key, message) ?? []);
    const through = messages.at(-1)?.sequence ?? after;
    this.#streams.reached(key, through, 'read');
    const newestCommand = messages.findLast(({ subject }) => this.#isCommand(key, subject))?.sequence;
    return {
      events,
      through,
      skipped: messages.length - events.length,
      epoch: stream.epoch,
      ...(newestCommand !== undefined && { newestCommand }),
    };
  }

  /** Returns true if appends on a subject expect the newest of several subjects. */
  #isCommand(key: Token, subject: string): boolean {
    const { format, subject: subjectOf } = this.#layout;
    const path = subject.slice(subjectOf(key, '').length);
    return (format.expectedAt(path) ?? path) !== path;
  }

  /** Returns the sequence of the newest event; 0 for none. A later read shows it, whichever replica answers. */
  async newest(key: Token): Promise<number> {
    const newest = await this.#newestAt(key, this.#layout.subject(key, '>'));
    if (newest === undefined) return 0;
    await this.#streams.find(key);
    this.#streams.reached(key, newest.seq, 'leader');
    return newest.seq;
  }

  #newestAt(key: Token, subjects: string): Promise<StoredMsg | undefined> {
    const { stream, format } = this.#layout;
    const newest = newestMessage(this.ports.jsm, stream(key), subjects);
    return newest.catch(failedWhile(`reading ${format.kind} ${key}`));
  }

  /** Purges a stream of the key alone. In a shared one it erases: a purge would leave the text in files with other keys. */
  async removeBefore(key: Token, sequence: number, mayGoOn?: () => void): Promise<number> {
    const { stream, subject, hasOwnStreams = false } = this.#layout;
    const filter = subject(key, '>');
    if (!hasOwnStreams) {
      const options = { through: sequence - 1, unhurried: true, ...(mayGoOn && { mayGoOn }) };
      return eraseMessages(this.ports, stream(key), filter, options);
    }
    const purging = this.ports.jsm.streams.purge(stream(key), { filter, seq: sequence });
    return (await ifExists(purging, `removing events of ${key}`))?.purged ?? 0;
  }

  watch(key: Token, onEvent: () => void): Unwatch {
    const { subject, intake = subject } = this.#layout;
    const heard = intake(key, '>');
    const subscription = this.ports.connection.subscribe(heard, { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  #publish(key: Token, append: Append): Promise<PubOutcome> {
    const { subject, body, generation, expectedOn, options } = append;
    const { messageId, expectedSequence } = options;
    const { stream, lifecycle } = this.#layout;
    const refreshing = generation === undefined ? undefined : lifecycle?.refreshed();
    if (refreshing !== undefined) return refreshing.then(() => this.#publish(key, append));
    // Nothing is awaited from here on: an append that began before the session was forgotten is never stored after it.
    if (generation !== undefined && lifecycle !== undefined && generationOf(lifecycle, key) !== generation)
      return Promise.reject(beingForgotten(key));
    return this.ports.publisher.publish(subject, body, {
      stream: stream(key),
      // Message ids are unique per stream, whatever the subject.
      ...(messageId !== undefined && { messageId: `${key}:${messageId}` }),
      ...(expectedSequence !== undefined && {
        expectedLastOfSubjects: { sequence: expectedSequence, subjects: expectedOn },
      }),
    });
  }

  #failed(key: Token, error: unknown): never {
    // The stream may have been deleted under a watcher: the next append looks it up.
    this.#streams.missed(key);
    throw error;
  }

  async #messages(key: Token, stream: LogStream, wanted: ReadRange): Promise<StreamMessage[]> {
    const { after, through = Number.MAX_SAFE_INTEGER, limit, at = '>' } = wanted;
    const { connection, timeoutMs } = this.ports;
    const { format, stream: nameOf, subject } = this.#layout;
    const place = { connection, stream: nameOf(key), timeoutMs };
    const range = { from: after + 1, through, ...(limit !== undefined && { limit }) };
    const read = this.#maybeEmpty(stream, wanted) ? readTail : readStream;
    // The expected sequence is known only over all places.
    const isSure = stream.replicas === 1 || at !== '>';
    const expected = isSure ? 0 : Math.min(stream.leaderSequence, through);
    const started = performance.now();
    for (let askAfterMs = LONG_LAG_MS; ; ) {
      const messages = await read(place, subject(key, at), range).catch(async (error: unknown) => {
        this.#streams.invalidate(key);
        if (isNoResponders(error) && (await this.#streams.find(key)) === undefined) return [];
        throw toThroughlineError(error, `reading ${format.kind} ${key}`);
      });
      const reached = messages.at(-1)?.sequence ?? after;
      if (reached >= expected || messages.length === limit) return messages;
      const waited = performance.now() - started;
      if (waited > askAfterMs) {
        // The message may have been removed, or lie beyond `through`.
        if ((await this.#next(key, reached)) > through) return messages;
        askAfterMs = waited + LONG_LAG_MS;
      }
      if (waited > timeoutMs) {
        throw new ThroughlineError('unavailable', `the replicas of ${format.kind} ${key} lag behind`);
      }
      await pause(LAG_PAUSE_MS);
    }
  }

  #maybeEmpty({ leaderSequence }: LogStream, { after, through, at }: ReadRange): boolean {
    const isTail = after > 0 && through === undefined && at === undefined;
    return isTail && leaderSequence <= after;
  }

  /** Returns the sequence of a key's next message from the leader; infinite for none. */
  async #next(key: Token, after: number): Promise<number> {
    const { stream, subject } = this.#layout;
    const query = { seq: after + 1, next_by_subj: subject(key, '>') };
    try {
      return (await this.ports.jsm.streams.getMessage(stream(key), query)).seq;
    } catch (error) {
      const code = apiCode(error);
      if (code === API.streamNotFound) this.#streams.invalidate(key);
      if (code === API.messageNotFound || code === API.streamNotFound) {
        this.#streams.removed(key, after);
        return Number.POSITIVE_INFINITY;
      }
      throw toThroughlineError(error, `reading ${this.#layout.format.kind} ${key}`);
    }
  }

  /** Returns the event in a message; `undefined` for a foreign one, and for one under a wrong subject. */
  protected eventIn(key: Token, message: StreamMessage): Stored<Event> | undefined {
    const { format, subject } = this.#layout;
    const { sequence, data, foreign } = message;
    const stored = foreign === undefined ? readEvent(format, key, data) : undefined;
    if (stored === undefined || message.subject !== subject(key, format.pathOf(stored.event)))
      return undefined;
    return { sequence, ...stored };
  }
}

/** The logs of sessions. The layout decides only which stream holds a session and how sessions are listed. */
export class NatsSessionLog
  extends NatsEventLog<SessionEvent>
  implements SessionLog, SessionActivity, NewestResults
{
  readonly #layout: names.SessionLayout;
  readonly #shards: ReturnType<typeof shardActivity>;

  constructor(ports: StorePorts, layout: names.SessionLayout, lifecycle = NONE_FORGOTTEN) {
    const { jsm } = ports;
    const stream = (session: Token) => names.streamOf(layout, session);
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
    this.#layout = layout;
    this.#shards = shardActivity(ports);
  }

  async newestResults(session: Token): Promise<NewestAt[]> {
    const { connection, timeoutMs } = this.ports;
    const wanted = { multi_last: [names.sessionSubject(session, RESULT_PATHS)] };
    const place = { connection, stream: names.streamOf(this.#layout, session), timeoutMs };
    const reading = batchFrom(place, wanted);
    const { messages } = await reading.catch(failedWhile(`reading session ${session}`));
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
      return activeOf(await listedStreams(this.ports.jsm, names.ALL_SESSIONS));
    } catch (error) {
      throw toThroughlineError(error, 'listing sessions');
    }
  }

  follow(onMoved: (session: Token) => void): Unwatch {
    return followEvents(listenerOn(this.ports.connection), ({ session }) => onMoved(session), [
      names.PUBLISHED_EVENTS[this.#layout.layout],
    ]);
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
  }

  async projects(): Promise<Token[]> {
    const request = this.ports.jsm.streams.info(names.LEARNINGS_STREAM, {
      subjects_filter: names.LEARNINGS_SUBJECTS,
    });
    const { state } = (await ifExists(request, 'listing the projects')) ?? {};
    const projects = Object.keys(state?.subjects ?? {}).flatMap(
      (subject) => names.projectOfSubject(subject) ?? [],
    );
    return [...new Set(projects)].sort();
  }
}
