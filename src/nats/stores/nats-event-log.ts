import type { JetStreamManager, NatsConnection, StoredMsg } from 'nats';
import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import { type DecidedOn, decidedBy, writeEvent } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import { type TraceContext, traceHeaders } from '../../contracts/trace-context.js';
import { appendSpan } from '../../engine/monitoring/message-spans.js';
import type {
  Appended,
  AppendOptions,
  EventLog,
  EventRemoval,
  ReadRange,
  ReadResult,
  RemovalOptions,
  Unwatch,
} from '../../engine/ports/session-log.js';
import { noTracing, type Tracing } from '../../engine/ports/tracing.js';
import { pause } from '../../engine/runtime/pauses.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher } from '../jetstream/acked-publisher.js';
import { readStream, readTail, type StreamMessage } from '../jetstream/direct-get.js';
import type { KeyStreams, LogStream } from '../jetstream/key-streams.js';
import { newestMessage } from '../jetstream/newest-page.js';
import type { PubOutcome } from '../jetstream/publish-outcome.js';
import { type ForgottenSessions, lifeOf } from './forgotten-floor.js';
import { type EventPlaces, eventsOf } from './stored-events.js';

/** Between two looks at a replica that lags behind. */
const LAG_PAUSE_MS = 2;
/** A replica that lags longer than this may not lag at all. */
const LONG_LAG_MS = 100;

/** Where the events of a key stand. */
export interface LogLayout<Event> extends EventPlaces<Event> {
  /** The stream that holds the events of a key. */
  readonly stream: (key: Token) => string;
  /** All subjects of a key's events. */
  readonly subjects: (key: Token) => string;
  /** The subjects of its commands, where there are others as well. */
  readonly commands?: (key: Token) => readonly string[];
  /** Where its events are published, where the stream stores them under other subjects. */
  readonly intake?: (key: Token, type: string) => string;
  /** Keys that are forgotten: an append that began before does not come behind it. Default: none ever is. */
  readonly forgotten?: ForgottenSessions;
}

export interface EventLogPorts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly publisher: AckedPublisher;
  /** Longest wait for one answer of the server, in milliseconds. */
  readonly timeoutMs: number;
  /** Default: no spans. */
  readonly tracing?: Tracing;
}

/** With the span that an append is part of. */
type TracedOptions = AppendOptions & {
  readonly trace?: TraceContext | undefined;
  /** The life that the key led when the append began. */
  readonly life?: string | undefined;
};

/**
 * Event logs on streams, which are made on the first append.
 *
 * Any replica answers a read, and may lag behind: one that does not yet show what this process has appended, or was told by
 * `newest`, is asked again.
 */
export class NatsEventLog<Event extends { readonly type: string }> implements EventLog<Event>, EventRemoval {
  readonly #ports: EventLogPorts;
  readonly #layout: LogLayout<Event>;
  readonly #streams: KeyStreams;
  readonly #tracing: Tracing;

  constructor(ports: EventLogPorts, layout: LogLayout<Event>, streams: KeyStreams) {
    this.#ports = ports;
    this.#layout = layout;
    this.#tracing = ports.tracing ?? noTracing;
    this.#streams = streams;
  }

  append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    return this.appendDecided(key, event, decidedBy(options), options);
  }

  /** Appends an event that was decided on what may be more than the sequence that is expected. */
  protected appendDecided(
    key: Token,
    event: Event,
    decided: DecidedOn,
    options: AppendOptions,
  ): Promise<Appended> {
    // Of an event that waits for its PubAck only the bytes are kept: thousands of them may be in flight.
    const { subject, intake = subject, format } = this.#layout;
    const to = intake(key, event.type);
    const body = writeEvent(format, key, event, decided);
    const spans = this.#tracing();
    if (spans === undefined) return this.#append(key, to, body, options);
    return spans.run(appendSpan(format.kind, key, event.type, to), () =>
      this.#append(key, to, body, { ...options, trace: spans.context() }),
    );
  }

  #append(key: Token, subject: string, body: Uint8Array, given: TracedOptions): Promise<Appended> {
    const { forgotten } = this.#layout;
    const options = forgotten === undefined ? given : { ...given, life: lifeOf(forgotten, key) };
    if (this.#streams.present(key)) return this.#appendThere(key, subject, body, options);
    return this.#streams.ensure(key).then(() => this.#appendThere(key, subject, body, options));
  }

  /** Callbacks rather than async functions: thousands of events wait for their PubAck, and each keeps what was begun. */
  #appendThere(key: Token, subject: string, body: Uint8Array, options: TracedOptions): Promise<Appended> {
    const { expectedSequence: known = options.decidedOn } = options;
    if (known !== undefined) this.#streams.reached(key, known, 'read');
    const before = this.#streams.highest(key);
    return this.#publish(key, subject, body, options).then(
      (published) =>
        this.#stored(key, published, before) ??
        this.#otherwise(key, subject, body, options, { published, before }),
      (error: unknown) => this.#failed(key, error),
    );
  }

  /** What it means that an event was stored; `undefined` where it was not, or where readers have passed its sequence. */
  #stored(key: Token, published: PubOutcome, before: number): Appended | undefined {
    if (published.outcome !== 'stored') return undefined;
    const { sequence, duplicate, isAtMost } = published;
    if (sequence <= (duplicate ? this.#streams.floor(key) : before)) return undefined;
    this.#streams.reached(key, sequence, isAtMost ? 'read' : 'leader');
    return { outcome: 'appended', sequence, duplicate };
  }

  async #otherwise(
    key: Token,
    subject: string,
    body: Uint8Array,
    options: TracedOptions,
    { published: first, before }: { readonly published: PubOutcome; readonly before: number },
  ): Promise<Appended> {
    let published = first;
    if (published.outcome === 'no_stream') {
      this.#streams.missed(key);
      await this.#streams.ensure(key);
      published = await this.#publishAgain(key, subject, body, options);
    }
    switch (published.outcome) {
      case 'stored':
        return (
          this.#stored(key, published, before) ?? this.#appendBeyond(key, subject, body, options, before)
        );
      case 'wrong_sequence':
        // Perhaps because the stream is another one than was thought.
        this.#streams.doubt(key);
        return { outcome: 'conflict' };
      case 'no_stream':
        throw new ThroughlineError(
          'unavailable',
          `stream ${this.#layout.stream(key)} was made, but takes no events`,
        );
    }
  }

  /**
   * Stores an event once more whose sequence readers have passed already: the stream was restored from an earlier
   * backup, and mended since or not.
   */
  async #appendBeyond(
    key: Token,
    subject: string,
    body: Uint8Array,
    { messageId, ...options }: TracedOptions,
    before: number,
  ): Promise<Appended> {
    this.#streams.missed(key);
    await this.#streams.ensure(key);
    const again =
      messageId === undefined ? {} : { messageId: `${messageId}:beyond:${this.#streams.floor(key)}` };
    const published = await this.#publishAgain(key, subject, body, { ...options, ...again });
    if (published.outcome === 'wrong_sequence') return { outcome: 'conflict' };
    if (published.outcome === 'stored' && published.sequence > (published.duplicate ? 0 : before)) {
      this.#streams.reached(key, published.sequence, 'leader');
      return { outcome: 'appended', sequence: published.sequence, duplicate: published.duplicate };
    }
    throw new ThroughlineError(
      'unavailable',
      `stream ${this.#layout.stream(key)} went back to lower numbers during a write`,
    );
  }

  async read(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    const { after } = range;
    const stream = await this.#streams.find(key);
    if (stream === undefined) return { events: [], through: after, skipped: 0 };
    const messages = range.commands
      ? await this.#commands(key, range)
      : await this.#messages(key, stream, range);
    const stored = eventsOf(messages, after, key, this.#layout);
    this.#streams.reached(key, stored.through, 'read');
    return { ...stored, epoch: stream.epoch };
  }

  /** Sequence of the newest event, 0 for none. A read that starts later shows it, whichever replica answers. */
  async newest(key: Token): Promise<number> {
    const newest = await this.newestStored(key);
    if (newest === undefined) return 0;
    await this.#streams.find(key);
    this.#streams.reached(key, newest.seq, 'leader');
    return newest.seq;
  }

  /** The newest message, as the leader of its stream has it. */
  protected async newestStored(key: Token): Promise<StoredMsg | undefined> {
    const { stream, subjects, format } = this.#layout;
    try {
      return await newestMessage(this.#ports.jsm, stream(key), subjects(key));
    } catch (error) {
      throw toThroughlineError(error, `reading ${format.kind} ${key}`);
    }
  }

  /** By a purge: what it leaves in files goes with the stream. */
  async removeBefore(key: Token, sequence: number, _: RemovalOptions = {}): Promise<number> {
    const { stream, subjects } = this.#layout;
    try {
      const { purged } = await this.#ports.jsm.streams.purge(stream(key), {
        filter: subjects(key),
        seq: sequence,
      });
      return purged;
    } catch (error) {
      if (apiCode(error) === API.streamNotFound) return 0;
      throw toThroughlineError(error, `removing events of ${key}`);
    }
  }

  watch(key: Token, onEvent: () => void): Unwatch {
    const { subjects, intake } = this.#layout;
    const heard = intake?.(key, '>') ?? subjects(key);
    const subscription = this.#ports.connection.subscribe(heard, { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  /** Has the next read look whether the stream is still the same. */
  protected doubt(key: Token): void {
    this.#streams.doubt(key);
  }

  #publish(
    key: Token,
    subject: string,
    body: Uint8Array,
    options: TracedOptions,
    together = options.together,
  ): Promise<PubOutcome> {
    const refreshing = this.#layout.forgotten?.refreshed();
    if (refreshing === undefined) return this.#publishNow(key, subject, body, options, together);
    return refreshing.then(() => this.#publishNow(key, subject, body, options, together));
  }

  /** Waits for nothing: what was begun before the session was forgotten never comes after it. */
  #publishNow(
    key: Token,
    subject: string,
    body: Uint8Array,
    options: TracedOptions,
    together: boolean | undefined,
  ): Promise<PubOutcome> {
    const { messageId, expectedSequence, trace } = options;
    const { subjects, stream, forgotten } = this.#layout;
    if (forgotten !== undefined && lifeOf(forgotten, key) !== options.life) {
      return Promise.reject(beingForgotten(key));
    }
    const isPlain = messageId === undefined && expectedSequence === undefined && trace === undefined;
    if (together && isPlain && this.#streams.batches(key)) {
      const alone = () => this.#publish(key, subject, body, options, false);
      return this.#ports.publisher.publishTogether(stream(key), subject, body, alone);
    }
    return this.#ports.publisher.publish(subject, body, {
      stream: stream(key),
      // Message ids count for the whole stream, whatever the subject.
      ...(messageId !== undefined && { messageId: `${key}:${messageId}` }),
      ...(expectedSequence !== undefined && {
        expectedLastOfSubjects: { sequence: expectedSequence, subjects: subjects(key) },
      }),
      ...(trace !== undefined && { headers: traceHeaders(trace) }),
    });
  }

  #publishAgain(key: Token, subject: string, body: Uint8Array, options: TracedOptions): Promise<PubOutcome> {
    return this.#publish(key, subject, body, options).catch((error: unknown) => this.#failed(key, error));
  }

  #failed(key: Token, error: unknown): never {
    // The stream may have been deleted under a watcher: the next append makes sure of it.
    this.#streams.missed(key);
    throw error;
  }

  /** Those of several subjects come by a request each; what is stored meanwhile must not hide what was stored before. */
  async #commands(key: Token, range: ReadRange): Promise<StreamMessage[]> {
    const { commands, subjects } = this.#layout;
    const filters = commands?.(key) ?? [subjects(key)];
    const found = await this.#eachOf(key, filters, range);
    const through = found.at(-1)?.sequence;
    if (range.through !== undefined || through === undefined) return found;
    return this.#eachOf(key, filters, { ...range, through });
  }

  async #eachOf(key: Token, filters: readonly string[], range: ReadRange): Promise<StreamMessage[]> {
    const { after, through = Number.MAX_SAFE_INTEGER } = range;
    const { connection, timeoutMs } = this.#ports;
    const { format, stream } = this.#layout;
    const name = stream(key);
    const read = (filter: string) =>
      readTail(connection, name, filter, { from: after + 1, through }, timeoutMs);
    try {
      return (await Promise.all(filters.map(read)))
        .flat()
        .sort((one, other) => one.sequence - other.sequence);
    } catch (error) {
      this.#streams.doubt(key);
      throw toThroughlineError(error, `reading ${format.kind} ${key}`);
    }
  }

  async #messages(key: Token, stream: LogStream, asked: ReadRange): Promise<StreamMessage[]> {
    const { after, through = Number.MAX_SAFE_INTEGER, limit, type } = asked;
    const { connection, timeoutMs } = this.#ports;
    const { format, stream: nameOf, subjects, subject } = this.#layout;
    const filter = type === undefined ? subjects(key) : subject(key, type);
    const range = { from: after + 1, through, ...(limit !== undefined && { limit }) };
    const read = this.#maybeEmpty(stream, asked) ? readTail : readStream;
    // Of which type that is, is not kept.
    const isSure = stream.replicas === 1 || type !== undefined;
    const expected = isSure ? 0 : Math.min(stream.held, through);
    const started = performance.now();
    for (let askAfterMs = LONG_LAG_MS; ; ) {
      const messages = await read(connection, nameOf(key), filter, range, timeoutMs).catch(
        async (error: unknown) => {
          this.#streams.doubt(key);
          if (isNoResponders(error) && (await this.#streams.find(key)) === undefined) return [];
          throw toThroughlineError(error, `reading ${format.kind} ${key}`);
        },
      );
      const reached = messages.at(-1)?.sequence ?? after;
      if (reached >= expected || messages.length === limit) return messages;
      const waited = performance.now() - started;
      if (waited > askAfterMs) {
        // What it held may be gone since, by age or by hand, or lie beyond `through`.
        if ((await this.#next(key, reached)) > through) return messages;
        askAfterMs = waited + LONG_LAG_MS;
      }
      if (waited > timeoutMs) {
        throw new ThroughlineError('unavailable', `the replicas of ${format.kind} ${key} lag behind`);
      }
      await pause(LAG_PAUSE_MS);
    }
  }

  /** Returns true for a read that may well find nothing: of what is new since the last one. */
  #maybeEmpty({ held }: LogStream, { after, through, type }: ReadRange): boolean {
    const isTail = after > 0 && through === undefined && type === undefined;
    return isTail && held <= after;
  }

  /** Sequence of a key's next message, as the leader of its stream has it; infinite for none. */
  async #next(key: Token, after: number): Promise<number> {
    const { stream, subjects } = this.#layout;
    const query = { seq: after + 1, next_by_subj: subjects(key) };
    try {
      return (await this.#ports.jsm.streams.getMessage(stream(key), query)).seq;
    } catch (error) {
      const code = apiCode(error);
      if (code === API.streamNotFound) this.#streams.doubt(key);
      if (code === API.messageNotFound || code === API.streamNotFound) {
        this.#streams.gone(key, after);
        return Number.POSITIVE_INFINITY;
      }
      throw toThroughlineError(error, `reading ${this.#layout.format.kind} ${key}`);
    }
  }
}
