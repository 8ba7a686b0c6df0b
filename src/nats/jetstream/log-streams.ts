import type { JetStreamManager, StreamInfo } from 'nats';
import type { Token } from '../../contracts/names.js';
import { Semaphore } from '../../runtime/semaphore.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { type MadeStream, takesBatches } from './topology.js';

/**
 * What this process knows of the streams of event logs, by key: whether they are there, and still the same.
 *
 * That is asked, once in a while for each key, and not found out by publishing or reading: a client that watches
 * `session.>`, as `caughtUp` and `nats sub` do, takes the answer "no responders" away from a missing stream, and only
 * a deadline would tell.
 */
export interface LogStream {
  /** When the stream was made: another one of the same name has another time. */
  readonly epoch: string;
  readonly replicas: number;
  /** Whether it takes batches of fast ingest, and the sequences that come of these are enough to know. */
  readonly batches: boolean;
  /** Highest sequence of the key that the leader of this stream is known to hold: each replica shows it soon. */
  readonly held: number;
}

/** What an event log asks of the streams that hold its keys. */
export interface KeyStreams {
  /** The stream of a key, or `undefined` where there is none. */
  find(key: Token): Promise<LogStream | undefined>;
  /** Whether an append may count on the stream of a key. */
  present(key: Token): boolean;
  /** Whether events of a key may be published in batches. */
  batches(key: Token): boolean;
  /** Makes the stream of a key where it is not known to be there. */
  ensure(key: Token): Promise<void>;
  /** Highest sequence that was seen of a key; 0 for none. */
  highest(key: Token): number;
  /** Sequence that whatever is stored now must be above; 0 where none is known. */
  floor(key: Token): number;
  /** Notes a sequence of a key, as the `leader` of its stream has named it, or one that was read. */
  reached(key: Token, sequence: number, by: 'leader' | 'read'): void;
  /** Notes that the leader holds nothing of a key after a sequence any more. */
  gone(key: Token, after: number): void;
  /** Has the next read look whether the stream is still the same. */
  doubt(key: Token): void;
  /** Has the next append make the stream, unless it is there. */
  missed(key: Token): void;
}

interface Known extends LogStream {
  held: number;
  /** Highest sequence that was ever seen of the key, in this stream or in one before it. */
  highest: number;
  /** That of its snapshot when the stream was last made or found for an append. */
  floor: number;
  /** When it was last seen, in the process's own milliseconds. */
  seenAt: number;
  /** Whether it exists. */
  present: boolean;
  /** Whether it is known to be ahead of all that was seen of the key, snapshots included: only then it takes events. */
  sound: boolean;
}

/** How long a stream is taken to be the same for reading. */
const TRUSTED_MS = 5000;
const MAX_KNOWN = 100_000;
/**
 * The server makes one stream after the other, slower the more there are, and answers no question about a stream while
 * a request to make one waits in its queue: more at once would not be made sooner, but have all reads wait till the end.
 */
const MADE_AT_ONCE = 1;

export interface LogStreamsOptions {
  /** The stream that holds the events of a key. */
  readonly nameOf: (key: Token) => string;
  /** Makes that stream, or finds it made; sequences up to `highest` must not come again. */
  readonly make: (key: Token, highest: number) => Promise<MadeStream>;
}

/** What is known of streams by their names. */
export class LogStreams implements KeyStreams {
  readonly #jsm: JetStreamManager;
  readonly #options: LogStreamsOptions;
  readonly #known = new Map<Token, Known>();
  readonly #making = new Semaphore(MADE_AT_ONCE);
  /** Streams being made: one request each, however many appends wait for it. */
  readonly #creating = new Map<Token, Promise<void>>();

  constructor(jsm: JetStreamManager, options: LogStreamsOptions) {
    this.#jsm = jsm;
    this.#options = options;
  }

  async find(key: Token): Promise<LogStream | undefined> {
    const known = this.#known.get(key);
    if (known?.present === true && performance.now() - known.seenAt < TRUSTED_MS) return known;
    // What is appended while the server answers may have come to pass after it has counted.
    const asked = this.highest(key);
    try {
      return this.#saw(key, asked, await this.#jsm.streams.info(this.#options.nameOf(key)));
    } catch (error) {
      if (apiCode(error) !== API.streamNotFound) throw toThroughlineError(error, `reading ${key}`);
      this.missed(key);
      return undefined;
    }
  }

  present(key: Token): boolean {
    const known = this.#known.get(key);
    return known?.present === true && known.sound;
  }

  async ensure(key: Token): Promise<void> {
    if (this.present(key)) return;
    const creating = this.#creating.get(key) ?? this.#create(key);
    this.#creating.set(key, creating);
    await creating;
  }

  batches(key: Token): boolean {
    return this.#known.get(key)?.batches === true;
  }

  highest(key: Token): number {
    return this.#known.get(key)?.highest ?? 0;
  }

  /** Names the stream of a key for as long as it is there; none where it has not been seen. */
  epoch(key: Token): string | undefined {
    return this.#known.get(key)?.epoch;
  }

  floor(key: Token): number {
    return this.#known.get(key)?.floor ?? 0;
  }

  reached(key: Token, sequence: number, by: 'leader' | 'read'): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    known.highest = Math.max(known.highest, sequence);
    if (by === 'leader') known.held = Math.max(known.held, sequence);
  }

  gone(key: Token, after: number): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.held = Math.min(known.held, after);
  }

  doubt(key: Token): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.seenAt = Number.NEGATIVE_INFINITY;
  }

  missed(key: Token): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.present = false;
  }

  #saw(key: Token, asked: number, { created, config, state }: StreamInfo, floor?: number): Known {
    // Forgetting costs one request for each session that is met again.
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const before = this.#known.get(key);
    const epoch = String(created);
    const isSame = before?.epoch === epoch;
    const known = {
      epoch,
      replicas: config.num_replicas,
      // With replicas a read waits for the very sequences that were appended.
      batches: config.num_replicas === 1 && takesBatches(config),
      held: isSame ? before.held : 0,
      highest: Math.max(floor ?? before?.highest ?? 0, state.last_seq),
      floor: floor ?? before?.floor ?? 0,
      seenAt: performance.now(),
      present: true,
      sound: floor !== undefined || (isSame && before.sound && state.last_seq >= asked),
    };
    this.#known.set(key, known);
    return known;
  }

  async #create(key: Token): Promise<void> {
    try {
      const highest = this.#known.get(key)?.highest ?? 0;
      const made = await this.#making.run(() => this.#options.make(key, highest));
      this.#saw(key, highest, made.info, made.snapshot);
    } catch (error) {
      throw toThroughlineError(error, `making the stream of ${key}`);
    } finally {
      this.#creating.delete(key);
    }
  }
}
