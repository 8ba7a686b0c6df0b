import type { JetStreamManager, StreamInfo } from 'nats';
import { Semaphore } from '../../engine/runtime/batched.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';

export interface KnownStream {
  /** Creation time: differs between streams of the same name. */
  readonly epoch: string;
  readonly replicas: number;
}

interface Known extends KnownStream {
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
const MAX_KNOWN = 100_000;
/**
 * Concurrent creations. The server creates streams one after the other, and answers no question about a stream while a creation
 * is queued: more would not be faster, but block all reads.
 */
const MADE_AT_ONCE = 1;

/** Creates a stream, or finds it; sequences up to `highest` or any snapshot's must not be reused. */
export type MakeStream = (stream: string, highest: number) => Promise<StreamInfo>;

/**
 * Tracks event log streams by name: existence and identity.
 *
 * Identity is polled instead of inferred from publishes and reads: a client that subscribes to `session.>`, such as `caughtUp`
 * or `nats sub`, suppresses the "no responders" answer of a missing stream, so that only a timeout would tell.
 */
export class LogStreams {
  readonly #jsm: JetStreamManager;
  readonly #make: MakeStream;
  readonly #known = new Map<string, Known>();
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
    if (info !== undefined) return this.#saw(stream, asked, info);
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

  #saw(stream: string, asked: number, { created, config, state }: StreamInfo, isMade = false): Known {
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
      this.#saw(stream, highest, made, true);
    } catch (error) {
      throw toThroughlineError(error, `making stream ${stream}`);
    } finally {
      this.#creating.delete(stream);
    }
  }
}
