import { LRUCache } from 'lru-cache';
import type { StoredMsg } from 'nats';
import { beingForgotten, ThroughlineError } from '../../contracts/errors.js';
import {
  type DecidedOn,
  decidedBy,
  type EventFormat,
  readEvent,
  type Stored,
  writeEvent,
} from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import { generationOf } from '../../engine/ports/session-lifecycle.js';
import type {
  Appended,
  AppendOptions,
  EventLog,
  EventRemoval,
  ReadRange,
  ReadResult,
  Unwatch,
} from '../../engine/ports/session-log.js';
import { pause } from '../../engine/runtime/batched.js';
import { API, apiCode, ifExists, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import type { PubOutcome } from '../jetstream/acked-publisher.js';
import { readStream, readTail, type StreamMessage } from '../jetstream/direct-get.js';
import { eraseMessages } from '../jetstream/erase-messages.js';
import type { KeyStreams, LogStream } from '../jetstream/key-streams.js';
import { newestMessage } from '../jetstream/newest-page.js';
import type { StorePorts } from '../jetstream/topology.js';
import type { ForgottenSessions } from './forgotten-sessions.js';

/** Poll interval for a lagging replica. */
const LAG_PAUSE_MS = 2;
/** After this time the leader is asked if the message still exists. */
const LONG_LAG_MS = 100;

export interface LogLayout<Event> extends EventPlaces<Event> {
  readonly stream: (key: Token) => string;
  readonly subjects: (key: Token) => string;
  /** Subjects of commands, if there are other events. */
  readonly commands?: (key: Token) => readonly string[];
  /** Subject to publish to, if the stream stores events under other subjects. */
  readonly intake?: (key: Token, type: string) => string;
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

interface Read {
  readonly through: number;
  readonly epoch: string | undefined;
}

type GuardedOptions = AppendOptions & {
  /** The key's generation when the append began. */
  readonly generation?: string | undefined;
};

/**
 * Event logs: each is a stream, created on the first append, and subjects of a key in it. Keys may share a stream: the expected
 * sequence is the last one among the key's own subjects, and every writer uses the same filter. Any replica answers a read and
 * may lag: it is asked again until it shows what this process has appended or was told by `newest`.
 */
export class NatsEventLog<Event extends { readonly type: string }> implements EventLog<Event>, EventRemoval {
  readonly #ports: StorePorts;
  readonly #layout: LogLayout<Event>;
  readonly #streams: KeyStreams;
  /** Cursor of each key in this process, with the epoch of its stream. */
  readonly #read = new LRUCache<Token, Read>({ max: MAX_READ });

  constructor(ports: StorePorts, layout: LogLayout<Event>, streams: KeyStreams) {
    this.#ports = ports;
    this.#layout = layout;
    this.#streams = streams;
  }

  append(key: Token, event: Event, options: AppendOptions = {}): Promise<Appended> {
    const { expectedSequence } = options;
    const decided = decidedBy(options);
    if (expectedSequence === undefined) return this.#appendDecided(key, event, decided, options);
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
    const appended = await this.#appendDecided(key, event, decidedBy(options), options);
    if (appended.outcome !== 'conflict' || expectedSequence !== read?.through) return appended;
    // The last event read may have been removed without a newer one, or be known only from the snapshot.
    const last = await this.newest(key);
    if (last >= expectedSequence || (await this.#isAnother(key, read))) return appended;
    const again = { ...options, expectedSequence: last };
    return this.#appendDecided(key, event, { after: expectedSequence }, again);
  }

  /** Detects a replaced stream: a decision on the old one must not be stored in the new one. */
  async #isAnother(key: Token, read: Read | undefined): Promise<boolean> {
    if (read === undefined || read.epoch === (await this.#epoch(key))) return false;
    this.#streams.invalidate(key);
    return true;
  }

  async #epoch(key: Token): Promise<string | undefined> {
    const { stream, format } = this.#layout;
    const asked = this.#ports.jsm.streams.info(stream(key));
    return (await ifExists(asked, `asking for the stream of ${format.kind} ${key}`))?.created;
  }

  #appendDecided(key: Token, event: Event, decided: DecidedOn, options: AppendOptions): Promise<Appended> {
    // Only the bytes are retained until the PubAck: thousands may be in flight.
    const { subject, intake = subject, format } = this.#layout;
    const to = intake(key, event.type);
    return this.#append(key, to, writeEvent(format, key, event, decided), options);
  }

  #append(key: Token, subject: string, body: Uint8Array, given: GuardedOptions): Promise<Appended> {
    const { lifecycle } = this.#layout;
    const options = lifecycle === undefined ? given : { ...given, generation: generationOf(lifecycle, key) };
    if (this.#streams.present(key)) return this.#appendToStream(key, subject, body, options);
    return this.#streams.ensure(key).then(() => this.#appendToStream(key, subject, body, options));
  }

  /** Callbacks instead of async functions, which would retain more per pending PubAck. */
  #appendToStream(key: Token, subject: string, body: Uint8Array, options: GuardedOptions): Promise<Appended> {
    const { expectedSequence: known = options.decidedOn } = options;
    if (known !== undefined) this.#streams.reached(key, known, 'read');
    const before = this.#streams.highest(key);
    return this.#publish(key, subject, body, options).then(
      (published) =>
        this.#stored(key, published, before) ??
        this.#retryOrConflict(key, subject, body, options, { published, before }),
      (error: unknown) => this.#failed(key, error),
    );
  }

  /** Maps a stored event; `undefined` if it was not stored, or at a sequence that readers have passed. */
  #stored(key: Token, published: PubOutcome, before: number): Appended | undefined {
    if (published.outcome !== 'stored') return undefined;
    const { sequence, duplicate } = published;
    if (sequence <= (duplicate ? this.#streams.floor(key) : before)) return undefined;
    this.#streams.reached(key, sequence, 'leader');
    return { outcome: 'appended', sequence, duplicate };
  }

  async #retryOrConflict(
    key: Token,
    subject: string,
    body: Uint8Array,
    options: GuardedOptions,
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
        // The stream may have been replaced.
        this.#streams.invalidate(key);
        return { outcome: 'conflict' };
      case 'no_stream':
        throw new ThroughlineError(
          'unavailable',
          `stream ${this.#layout.stream(key)} was created, but has no subject for events`,
        );
    }
  }

  /**
   * Stores an event again whose sequence readers have already passed: it repeats one that the newest snapshot covers, or the
   * stream was restored from an earlier backup.
   */
  async #appendBeyond(
    key: Token,
    subject: string,
    body: Uint8Array,
    { messageId, ...options }: GuardedOptions,
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
    let read = await this.#readOnce(key, range);
    // Never fold events of a replaced stream onto those of the earlier one.
    const asks = this.#layout.asksForStream === 'always' && read.through > range.after;
    if (asks && read.epoch !== (await this.#epoch(key))) {
      this.#streams.invalidate(key);
      read = await this.#readOnce(key, range);
    }
    // A read of some types says nothing about the events in between.
    if (range.type === undefined && range.commands !== true)
      this.#read.set(key, { through: read.through, epoch: read.epoch });
    return read;
  }

  async #readOnce(key: Token, range: ReadRange): Promise<ReadResult<Event>> {
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

  /** Returns the sequence of the newest event; 0 for none. A later read shows it, whichever replica answers. */
  async newest(key: Token): Promise<number> {
    const newest = await this.newestStored(key);
    if (newest === undefined) return 0;
    await this.#streams.find(key);
    this.#streams.reached(key, newest.seq, 'leader');
    return newest.seq;
  }

  protected async newestStored(key: Token): Promise<StoredMsg | undefined> {
    const { stream, subjects, format } = this.#layout;
    try {
      return await newestMessage(this.#ports.jsm, stream(key), subjects(key));
    } catch (error) {
      throw toThroughlineError(error, `reading ${format.kind} ${key}`);
    }
  }

  /** Purges a stream of the key alone. In a shared one it erases: a purge would leave the text in files with other keys. */
  async removeBefore(key: Token, sequence: number, mayGoOn?: () => void): Promise<number> {
    const { stream, subjects, hasOwnStreams = false } = this.#layout;
    const filter = subjects(key);
    if (!hasOwnStreams) {
      const options = { through: sequence - 1, unhurried: true, ...(mayGoOn && { mayGoOn }) };
      return eraseMessages(this.#ports, stream(key), filter, options);
    }
    const purging = this.#ports.jsm.streams.purge(stream(key), { filter, seq: sequence });
    return (await ifExists(purging, `removing events of ${key}`))?.purged ?? 0;
  }

  watch(key: Token, onEvent: () => void): Unwatch {
    const { subjects, intake } = this.#layout;
    const heard = intake?.(key, '>') ?? subjects(key);
    const subscription = this.#ports.connection.subscribe(heard, { callback: () => onEvent() });
    return () => subscription.unsubscribe();
  }

  #publish(key: Token, subject: string, body: Uint8Array, options: GuardedOptions): Promise<PubOutcome> {
    const refreshing = this.#layout.lifecycle?.refreshed();
    if (refreshing === undefined) return this.#publishNow(key, subject, body, options);
    return refreshing.then(() => this.#publishNow(key, subject, body, options));
  }

  /** Checks the generation synchronously: an append that began before the session was forgotten is never stored after it. */
  #publishNow(key: Token, subject: string, body: Uint8Array, options: GuardedOptions): Promise<PubOutcome> {
    const { messageId, expectedSequence } = options;
    const { subjects, stream, lifecycle } = this.#layout;
    if (lifecycle !== undefined && generationOf(lifecycle, key) !== options.generation) {
      return Promise.reject(beingForgotten(key));
    }
    return this.#ports.publisher.publish(subject, body, {
      stream: stream(key),
      // Message ids are unique per stream, whatever the subject.
      ...(messageId !== undefined && { messageId: `${key}:${messageId}` }),
      ...(expectedSequence !== undefined && {
        expectedLastOfSubjects: { sequence: expectedSequence, subjects: subjects(key) },
      }),
    });
  }

  #publishAgain(key: Token, subject: string, body: Uint8Array, options: GuardedOptions): Promise<PubOutcome> {
    return this.#publish(key, subject, body, options).catch((error: unknown) => this.#failed(key, error));
  }

  #failed(key: Token, error: unknown): never {
    // The stream may have been deleted under a watcher: the next append looks it up.
    this.#streams.missed(key);
    throw error;
  }

  /** Reads each subject with its own request. A second read makes the result complete up to its last sequence. */
  async #commands(key: Token, range: ReadRange): Promise<StreamMessage[]> {
    const { commands, subjects } = this.#layout;
    const filters = commands?.(key) ?? [subjects(key)];
    const found = await this.#readSubjects(key, filters, range);
    const through = found.at(-1)?.sequence;
    if (range.through !== undefined || through === undefined) return found;
    return this.#readSubjects(key, filters, { ...range, through });
  }

  async #readSubjects(key: Token, filters: readonly string[], range: ReadRange): Promise<StreamMessage[]> {
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
      this.#streams.invalidate(key);
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
    // The expected sequence is known only over all types.
    const isSure = stream.replicas === 1 || type !== undefined;
    const expected = isSure ? 0 : Math.min(stream.held, through);
    const started = performance.now();
    for (let askAfterMs = LONG_LAG_MS; ; ) {
      const messages = await read(connection, nameOf(key), filter, range, timeoutMs).catch(
        async (error: unknown) => {
          this.#streams.invalidate(key);
          if (isNoResponders(error) && (await this.#streams.find(key)) === undefined) return [];
          throw toThroughlineError(error, `reading ${format.kind} ${key}`);
        },
      );
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

  #maybeEmpty({ held }: LogStream, { after, through, type }: ReadRange): boolean {
    const isTail = after > 0 && through === undefined && type === undefined;
    return isTail && held <= after;
  }

  /** Returns the sequence of a key's next message from the leader; infinite for none. */
  async #next(key: Token, after: number): Promise<number> {
    const { stream, subjects } = this.#layout;
    const query = { seq: after + 1, next_by_subj: subjects(key) };
    try {
      return (await this.#ports.jsm.streams.getMessage(stream(key), query)).seq;
    } catch (error) {
      const code = apiCode(error);
      if (code === API.streamNotFound) this.#streams.invalidate(key);
      if (code === API.messageNotFound || code === API.streamNotFound) {
        this.#streams.gone(key, after);
        return Number.POSITIVE_INFINITY;
      }
      throw toThroughlineError(error, `reading ${this.#layout.format.kind} ${key}`);
    }
  }
}

export interface EventPlaces<Event> {
  readonly format: EventFormat<Event>;
  readonly subject: (key: Token, type: string) => string;
}

/** Returns the events among messages read after `after`, without foreign ones and those under a wrong subject. */
export function eventsOf<Event extends { readonly type: string }>(
  messages: readonly StreamMessage[],
  after: number,
  key: Token,
  { format, subject: subjectOf }: EventPlaces<Event>,
): ReadResult<Event> {
  const events: Stored<Event>[] = [];
  for (const { sequence, subject, data, foreign } of messages) {
    const stored = foreign === undefined ? readEvent(format, key, data) : undefined;
    if (stored !== undefined && subject === subjectOf(key, stored.event.type)) {
      events.push({ sequence, ...stored });
    }
  }
  return { events, through: messages.at(-1)?.sequence ?? after, skipped: messages.length - events.length };
}
