import type { JetStreamManager, StreamInfo } from 'nats';
import { Semaphore } from '../../engine/runtime/batched.js';
import { API, apiCode, toThroughlineError } from '../connection/nats-errors.js';
import { takesBatches } from './topology.js';

/** What is known of a stream that holds events. */
export interface KnownStream {
  /** When the stream was made: another one of the same name has another time. */
  readonly epoch: string;
  readonly replicas: number;
  /** Whether it takes batches of fast ingest, and the sequences that come of these are enough to know. */
  readonly batches: boolean;
}

interface Known extends KnownStream {
  /** Highest sequence that was ever seen, in this stream or in one before it. */
  highest: number;
  /** When it was last seen, in the process's own milliseconds. */
  seenAt: number;
  /** Whether it exists. */
  present: boolean;
  /** Whether it is known to be ahead of all that was seen of it, snapshots included: only then it takes events. */
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

/** Makes a stream, or finds it made; sequences up to `highest`, and those of any snapshot, must not come again. */
export type MakeStream = (stream: string, highest: number) => Promise<StreamInfo>;

/**
 * Knows the streams of event logs by their names: whether they are there, and still the same.
 *
 * That is asked, once in a while for each stream, and not found out by publishing or reading: a client that watches
 * `session.>`, as `caughtUp` and `nats sub` do, takes the answer "no responders" away from a missing stream, and only
 * a deadline would tell.
 */
export class LogStreams {
  readonly #jsm: JetStreamManager;
  readonly #make: MakeStream;
  readonly #known = new Map<string, Known>();
  readonly #making = new Semaphore(MADE_AT_ONCE);
  /** Streams being made: one request each, however many appends wait for it. */
  readonly #creating = new Map<string, Promise<void>>();

  constructor(jsm: JetStreamManager, make: MakeStream) {
    this.#jsm = jsm;
    this.#make = make;
  }

  /** The stream as it is now, or `undefined` where there is none. */
  async find(stream: string): Promise<KnownStream | undefined> {
    const known = this.#known.get(stream);
    if (known?.present === true && performance.now() - known.seenAt < TRUSTED_MS) return known;
    // What is appended while the server answers may have come to pass after it has counted.
    const asked = this.highest(stream);
    try {
      return this.#saw(stream, asked, await this.#jsm.streams.info(stream));
    } catch (error) {
      if (apiCode(error) !== API.streamNotFound) throw toThroughlineError(error, `reading ${stream}`);
      this.missed(stream);
      return undefined;
    }
  }

  /** What was last seen of a stream. */
  known(stream: string): KnownStream | undefined {
    return this.#known.get(stream);
  }

  /** Returns true where an append may count on the stream. */
  present(stream: string): boolean {
    const known = this.#known.get(stream);
    return known?.present === true && known.sound;
  }

  /** Makes the stream where it is not known to be there. */
  async ensure(stream: string): Promise<void> {
    if (this.present(stream)) return;
    const creating = this.#creating.get(stream) ?? this.#create(stream);
    this.#creating.set(stream, creating);
    await creating;
  }

  /** Highest sequence that was seen of the stream; 0 for none. */
  highest(stream: string): number {
    return this.#known.get(stream)?.highest ?? 0;
  }

  reached(stream: string, sequence: number): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.highest = Math.max(known.highest, sequence);
  }

  /** Has the next read look whether the stream is still the same. */
  doubt(stream: string): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.seenAt = Number.NEGATIVE_INFINITY;
  }

  /** Has the next append make the stream, unless it is there. */
  missed(stream: string): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.present = false;
  }

  #saw(stream: string, asked: number, { created, config, state }: StreamInfo, isMade = false): Known {
    // Forgetting costs one request for each stream that is met again.
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const before = this.#known.get(stream);
    const epoch = String(created);
    const known = {
      epoch,
      replicas: config.num_replicas,
      // With replicas a read waits for the very sequences that were appended.
      batches: config.num_replicas === 1 && takesBatches(config),
      highest: isMade ? state.last_seq : Math.max(before?.highest ?? 0, state.last_seq),
      seenAt: performance.now(),
      present: true,
      sound: isMade || (before?.epoch === epoch && before.sound && state.last_seq >= asked),
    };
    this.#known.set(stream, known);
    return known;
  }

  async #create(stream: string): Promise<void> {
    try {
      const highest = this.highest(stream);
      const made = await this.#making.run(() => this.#make(stream, highest));
      this.#saw(stream, highest, made, true);
    } catch (error) {
      throw toThroughlineError(error, `making stream ${stream}`);
    } finally {
      this.#creating.delete(stream);
    }
  }
}
