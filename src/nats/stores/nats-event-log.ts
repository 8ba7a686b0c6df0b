import type { JetStreamManager, NatsConnection } from 'nats';
import { ThroughlineError } from '../../contracts/errors.js';
import { type DecidedOn, writeEvent } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import { type TraceContext, traceHeaders } from '../../contracts/trace-context.js';
import { appendSpan } from '../../monitoring/message-spans.js';
import type {
  Appended,
  AppendOptions,
  EventLog,
  ReadRange,
  ReadResult,
  Unwatch,
} from '../../ports/event-log.js';
import { noTracing, type Tracing } from '../../ports/tracing.js';
import { pause } from '../../runtime/pauses.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher, AckedPublishOptions, PubOutcome } from '../jetstream/acked-publisher.js';
import { readNext, readStream, type StreamMessage } from '../jetstream/direct-get.js';
import { type LogStream, LogStreams } from '../jetstream/log-streams.js';
import type { MadeStream } from '../jetstream/topology.js';
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
  /** What is read of the stream, where that is more: all that counts for `expecting`. */
  readonly read?: (key: Token) => string;
  /** The subjects of its commands, where there are others as well. */
  readonly commands?: (key: Token) => readonly string[];
  /** Makes the stream, or finds it made; sequences up to `highest` must not come again. */
  readonly make: (key: Token, highest: number) => Promise<MadeStream>;
  /** How a publish says which sequence it expects, and what makes a message id unique in the stream. */
  readonly expecting: (key: Token, sequence: number) => AckedPublishOptions;
  readonly messageId: (key: Token, id: string) => string;
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
type TracedOptions = AppendOptions & { readonly trace?: TraceContext | undefined };

/**
 * Event logs on streams, which are made on the first append.
 *
 * Any replica answers a read, and may lag behind: one that does not yet show what this process has appended is asked
 * again.
 */
export class NatsEventLog<Event extends { readonly type: string }> implements EventLog<Event> {
  readonly #ports: EventLogPorts;
  readonly #layout: LogLayout<Event>;
  readonly #streams: LogStreams;
  readonly #tracing: Tracing;

  constructor(ports: EventLogPorts, layout: LogLayout<Event>) {
    this.#ports = ports;
    this.#layout = layout;
    this.#tracing = ports.tracing ?? noTracing;
    this.#streams = new LogStreams(ports.jsm, { nameOf: layout.stream, make: layout.make });
  }

  append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence: after, decidedOn } = options;
    return this.appendDecided(
      key,
      event,
      { ...(after !== undefined && { after }), ...(decidedOn !== undefined && { decidedOn }) },
      options,
    );
  }

  /** Appends an event that was decided on what may be more than the sequence that is expected. */
  protected appendDecided(
    key: Token,
    event: Event,
    decided: DecidedOn,
    options: AppendOptions,
  ): Promise<Appended> {
    // Of an event that waits for its PubAck only the bytes are kept: thousands of them may be in flight.
    const { subject, format } = this.#layout;
    const to = subject(key, event.type);
    const body = writeEvent(format.kind, key, event, decided);
    const spans = this.#tracing();
    if (spans === undefined) return this.#append(key, to, body, options);
    return spans.run(appendSpan(format.kind, key, event.type, to), () =>
      this.#append(key, to, body, { ...options, trace: spans.context() }),
    );
  }

  async #append(key: Token, subject: string, body: Uint8Array, options: TracedOptions): Promise<Appended> {
    if (!this.#streams.present(key)) await this.#streams.ensure(key);
    const { expectedSequence: known = options.decidedOn } = options;
    if (known !== undefined) this.#streams.reached(key, known, 'read');
    const before = this.#streams.highest(key);
    let published = await this.#publish(key, subject, body, options);
    if (published.outcome === 'no_stream') {
      this.#streams.missed(key);
      await this.#streams.ensure(key);
      published = await this.#publish(key, subject, body, options);
    }
    switch (published.outcome) {
      case 'stored':
        if (published.sequence <= (published.duplicate ? this.#streams.floor(key) : before)) {
          return this.#appendBeyond(key, subject, body, options, before);
        }
        this.#streams.reached(key, published.sequence, 'append');
        return { outcome: 'appended', sequence: published.sequence, duplicate: published.duplicate };
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
    const published = await this.#publish(key, subject, body, { ...options, ...again });
    if (published.outcome === 'wrong_sequence') return { outcome: 'conflict' };
    if (published.outcome === 'stored' && published.sequence > (published.duplicate ? 0 : before)) {
      this.#streams.reached(key, published.sequence, 'append');
      return { outcome: 'appended', sequence: published.sequence, duplicate: published.duplicate };
    }
    throw new ThroughlineError(
      'unavailable',
      `stream ${this.#layout.stream(key)} went back to lower numbers during a write`,
    );
  }

  async read(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
    const { after, through = Number.MAX_SAFE_INTEGER } = range;
    const stream = await this.#streams.find(key);
    if (stream === undefined) return { events: [], through: after, skipped: 0 };
    const messages = range.commands
      ? await this.#commands(key, range)
      : await this.#messages(key, stream, range);
    const reached = range.commands ? after : Math.max(after, Math.min(stream.emptyAt, through));
    const stored = eventsOf(messages, reached, key, this.#layout);
    this.#streams.reached(key, stored.through, 'read');
    return { ...stored, epoch: stream.epoch };
  }

  watch(key: Token, onEvent: () => void): Unwatch {
    const subjects = this.#layout.subjects(key);
    const subscription = this.#ports.connection.subscribe(subjects, { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  /** Has the next read look whether the stream is still the same. */
  protected doubt(key: Token): void {
    this.#streams.doubt(key);
  }

  async #publish(key: Token, subject: string, body: Uint8Array, options: TracedOptions): Promise<PubOutcome> {
    const { messageId, expectedSequence, trace } = options;
    const { expecting, messageId: unique, stream } = this.#layout;
    try {
      return await this.#ports.publisher.publish(subject, body, {
        stream: stream(key),
        ...(messageId !== undefined && { messageId: unique(key, messageId) }),
        ...(expectedSequence !== undefined && expecting(key, expectedSequence)),
        ...(trace !== undefined && { headers: traceHeaders(trace) }),
      });
    } catch (error) {
      // The stream may have been deleted under a watcher: the next append makes sure of it.
      this.#streams.missed(key);
      throw error;
    }
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
    const read = async (filter: string): Promise<StreamMessage[]> => {
      const first = await readNext(connection, name, filter, after + 1, timeoutMs);
      if (first === undefined || first.sequence > through) return [];
      const rest = { from: first.sequence + 1, through };
      return [first, ...(await readStream(connection, name, filter, rest, timeoutMs))];
    };
    try {
      return (await Promise.all(filters.map(read)))
        .flat()
        .sort((one, other) => one.sequence - other.sequence);
    } catch (error) {
      this.#streams.doubt(key);
      throw toThroughlineError(error, `reading ${format.kind} ${key}`);
    }
  }

  async #messages(
    key: Token,
    stream: LogStream,
    { after, through = Number.MAX_SAFE_INTEGER, limit, type }: ReadRange,
  ): Promise<StreamMessage[]> {
    const { connection, timeoutMs } = this.#ports;
    const { format, stream: nameOf, subjects, subject, read = subjects } = this.#layout;
    const filter = type === undefined ? read(key) : subject(key, type);
    const range = { from: after + 1, through, ...(limit !== undefined && { limit }) };
    // Which types were appended is not kept.
    const isSure = stream.replicas === 1 || type !== undefined;
    const expected = isSure ? 0 : Math.min(stream.appended, through);
    const started = performance.now();
    for (let askAfterMs = LONG_LAG_MS; ; ) {
      const messages = await readStream(connection, nameOf(key), filter, range, timeoutMs).catch(
        (error: unknown) => {
          this.#streams.doubt(key);
          throw toThroughlineError(error, `reading ${format.kind} ${key}`);
        },
      );
      const reached = messages.at(-1)?.sequence ?? after;
      if (reached >= expected || messages.length === limit) return messages;
      const waited = performance.now() - started;
      if (waited > askAfterMs) {
        // What was appended may be gone since, by age or by hand, or lie beyond `through`.
        if ((await this.#next(key, reached)) > through) return messages;
        askAfterMs = waited + LONG_LAG_MS;
      }
      if (waited > timeoutMs) {
        throw new ThroughlineError('unavailable', `the replicas of ${format.kind} ${key} lag behind`);
      }
      await pause(LAG_PAUSE_MS);
    }
  }

  /** Sequence of a key's next message, as the leader of its stream has it; infinite for none. */
  async #next(key: Token, after: number): Promise<number> {
    const { stream, subjects, read = subjects } = this.#layout;
    const query = { seq: after + 1, next_by_subj: read(key) };
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
