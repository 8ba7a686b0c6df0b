import type { JetStreamManager, StreamInfo } from 'nats';
import type { Token } from '../../contracts/names.js';
import { Semaphore } from '../../engine/runtime/batched.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { restoredAlone } from './topology.js';

/**
 * Tracks the streams of keys, which may be shared: per stream what `LogStreams` knows, and per key what is not true of its
 * neighbours.
 *
 * Each key is checked once before its first append: if its snapshot is ahead of the stream, the stream was restored from an
 * earlier backup. The check is repeated when the stream is created or found again.
 */
interface KeyStreamsOptions {
  readonly nameOf: (key: Token) => string;
  readonly make: MakeStream;
  /** Returns the sequence of a key's newest snapshot; 0 for none. */
  readonly snapshot: (key: Token) => Promise<number>;
  /** Returns the key's generation: with a new one, its own stream must be looked up again. Default: a single generation. */
  readonly generationOf?: (key: Token) => string;
}

export interface LogStream extends KnownStream {
  /** Highest sequence of the key that the leader is known to have: replicas will show it soon. */
  readonly held: number;
}

interface Known {
  /** Highest sequence that the leader is known to have, and the epoch of its stream. */
  held: number;
  epoch: string | undefined;
  /** Highest sequence seen. It proves nothing about the stream, since a snapshot may be forged. */
  highest: number;
  floor: number;
  round: number;
  /** Generation at the last access. */
  generation: string;
}

const MAX_KNOWN = 100_000;

export class KeyStreams {
  readonly #options: KeyStreamsOptions;
  readonly #streams: LogStreams;
  /** Incremented when a stream is created or found for an append. */
  readonly #rounds = new Map<string, number>();
  readonly #keys = new Map<Token, Known>();
  /** Checks in progress, shared by all appends that wait. */
  readonly #checking = new Map<Token, Promise<void>>();

  constructor(jsm: JetStreamManager, options: KeyStreamsOptions) {
    this.#options = options;
    this.#streams = new LogStreams(jsm, (stream, highest) => {
      this.#rounds.set(stream, this.#round(stream) + 1);
      return options.make(stream, highest);
    });
  }

  async find(key: Token): Promise<LogStream | undefined> {
    this.#checkGeneration(key);
    const stream = await this.#streams.find(this.#stream(key));
    if (stream === undefined) return undefined;
    const known = this.#keys.get(key);
    const held = known?.epoch === stream.epoch ? known.held : 0;
    return { ...stream, held };
  }

  present(key: Token): boolean {
    this.#checkGeneration(key);
    const stream = this.#stream(key);
    return this.#streams.present(stream) && this.#keys.get(key)?.round === this.#round(stream);
  }

  /** Creates the stream of a key, unless it is known to exist, and checks the key. */
  async ensure(key: Token): Promise<void> {
    const stream = this.#stream(key);
    if (!this.#streams.present(stream)) {
      // The state in memory may be ahead of what is known of the stream.
      this.#streams.reached(stream, this.highest(key));
      await this.#streams.ensure(stream);
    }
    if (this.present(key)) return;
    const checking = this.#checking.get(key) ?? this.#checkSnapshot(key, stream);
    this.#checking.set(key, checking);
    await checking;
  }

  /** Highest sequence seen of a key; 0 for none. */
  highest(key: Token): number {
    return this.#keys.get(key)?.highest ?? 0;
  }

  /** Lower bound (exclusive) for new sequences; 0 if unknown. */
  floor(key: Token): number {
    return this.#keys.get(key)?.floor ?? 0;
  }

  /** Records a sequence of a key, as reported by the `leader` of its stream or as read. */
  reached(key: Token, sequence: number, by: 'leader' | 'read'): void {
    const known = this.#known(key);
    known.highest = Math.max(known.highest, sequence);
    if (by === 'read') return;
    const stream = this.#stream(key);
    const epoch = this.#streams.known(stream)?.epoch;
    known.held = known.epoch === epoch ? Math.max(known.held, sequence) : sequence;
    known.epoch = epoch;
    this.#streams.reached(stream, sequence);
  }

  /** Records that the leader has nothing of a key after a sequence. */
  gone(key: Token, after: number): void {
    const known = this.#keys.get(key);
    if (known !== undefined) known.held = Math.min(known.held, after);
  }

  /** Makes the next read check the identity of the stream. */
  invalidate(key: Token): void {
    this.#streams.invalidate(this.#stream(key));
  }

  /** Makes the next append create the stream, unless it exists. */
  missed(key: Token): void {
    this.#streams.missed(this.#stream(key));
  }

  /** Looks the stream up again if the key's generation has changed. */
  #checkGeneration(key: Token): void {
    const { generationOf } = this.#options;
    const known = this.#keys.get(key);
    if (generationOf === undefined || known === undefined) return;
    const generation = generationOf(key);
    if (known.generation === generation) return;
    known.generation = generation;
    this.#streams.missed(this.#stream(key));
  }

  #stream(key: Token): string {
    return this.#options.nameOf(key);
  }

  #round(stream: string): number {
    return this.#rounds.get(stream) ?? 0;
  }

  #known(key: Token): Known {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    // Evicting costs one request for each key that is appended to again.
    if (this.#keys.size >= MAX_KNOWN) this.#keys.clear();
    const generation = this.#options.generationOf?.(key) ?? '';
    const fresh: Known = { held: 0, epoch: undefined, highest: 0, floor: 0, round: 0, generation };
    this.#keys.set(key, fresh);
    return fresh;
  }

  async #checkSnapshot(key: Token, stream: string): Promise<void> {
    const round = this.#round(stream);
    try {
      const snapshot = await this.#options.snapshot(key);
      if (snapshot > this.#streams.highest(stream)) {
        this.#streams.invalidate(stream);
        await this.#streams.find(stream);
        const last = this.#streams.highest(stream);
        if (snapshot > last) throw restoredAlone(stream, last, `its snapshot at ${snapshot}`);
      }
      Object.assign(this.#known(key), { highest: 0, floor: snapshot, round });
    } catch (error) {
      throw toThroughlineError(error, `looking at the log of ${key}`);
    } finally {
      this.#checking.delete(key);
    }
  }
}

interface KnownStream {
  /** Creation time: differs between streams of the same name. */
  readonly epoch: string;
  readonly replicas: number;
}

interface SeenStream extends KnownStream {
  /** Highest sequence seen, in this stream or an earlier one of the name. */
  highest: number;
  /** Monotonic time of the last look. */
  seenAt: number;
  present: boolean;
  /** True if it is known to be ahead of everything seen, including snapshots: required for appends. */
  sound: boolean;
}

/** Time that a stream's identity is cached for reads. */
const TRUSTED_MS = 5000;
/**
 * Concurrent creations. The server creates streams one after the other, and answers no question about a stream while a creation
 * is queued: more would not be faster, but block all reads.
 */
const MADE_AT_ONCE = 1;

/** Creates a stream, or finds it; sequences up to `highest` or any snapshot's must not be reused. */
type MakeStream = (stream: string, highest: number) => Promise<StreamInfo>;

/**
 * Tracks event log streams by name: existence and identity.
 *
 * Identity is polled instead of inferred from publishes and reads: a client that subscribes to `session.>`, such as `caughtUp`
 * or `nats sub`, suppresses the "no responders" answer of a missing stream, so that only a timeout would tell.
 */
class LogStreams {
  readonly #jsm: JetStreamManager;
  readonly #make: MakeStream;
  readonly #known = new Map<string, SeenStream>();
  readonly #making = new Semaphore(MADE_AT_ONCE);
  /** Creations in progress, shared by all appends that wait. */
  readonly #creating = new Map<string, Promise<void>>();

  constructor(jsm: JetStreamManager, make: MakeStream) {
    this.#jsm = jsm;
    this.#make = make;
  }

  async find(stream: string): Promise<KnownStream | undefined> {
    const known = this.#known.get(stream);
    if (known?.present === true && performance.now() - known.seenAt < TRUSTED_MS) return known;
    // An append during the request may not be counted in the answer.
    const asked = this.highest(stream);
    const info = await ifExists(this.#jsm.streams.info(stream), `reading ${stream}`);
    if (info !== undefined) return this.#remember(stream, asked, info);
    this.missed(stream);
    return undefined;
  }

  known(stream: string): KnownStream | undefined {
    return this.#known.get(stream);
  }

  /** Returns true if the stream can be appended to without a look. */
  present(stream: string): boolean {
    const known = this.#known.get(stream);
    return known?.present === true && known.sound;
  }

  /** Creates the stream, unless it is known to exist. */
  async ensure(stream: string): Promise<void> {
    if (this.present(stream)) return;
    const creating = this.#creating.get(stream) ?? this.#create(stream);
    this.#creating.set(stream, creating);
    await creating;
  }

  /** Highest sequence seen; 0 for none. */
  highest(stream: string): number {
    return this.#known.get(stream)?.highest ?? 0;
  }

  reached(stream: string, sequence: number): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.highest = Math.max(known.highest, sequence);
  }

  /** Makes the next read check the identity of the stream. */
  invalidate(stream: string): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.seenAt = Number.NEGATIVE_INFINITY;
  }

  /** Makes the next append create the stream, unless it exists. */
  missed(stream: string): void {
    const known = this.#known.get(stream);
    if (known !== undefined) known.present = false;
  }

  #remember(
    stream: string,
    asked: number,
    { created, config, state }: StreamInfo,
    isMade = false,
  ): SeenStream {
    // Evicting costs one request for each stream that is used again.
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const before = this.#known.get(stream);
    const epoch = String(created);
    const known = {
      epoch,
      replicas: config.num_replicas,
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
      this.#remember(stream, highest, made, true);
    } catch (error) {
      throw toThroughlineError(error, `making stream ${stream}`);
    } finally {
      this.#creating.delete(stream);
    }
  }
}
