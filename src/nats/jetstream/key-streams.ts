import type { JetStreamManager, StreamInfo } from 'nats';
import type { Token } from '../../contracts/names.js';
import { Semaphore } from '../../engine/runtime/pacing.js';
import { ifExists, toThroughlineError } from '../connection/nats-errors.js';
import { restoredAlone } from './topology.js';

interface KeyStreamsOptions {
  readonly nameOf: (key: Token) => string;
  /** Creates a stream, or finds it; sequences up to `highest` or any snapshot's must not be reused. */
  readonly make: (stream: string, highest: number) => Promise<StreamInfo>;
  /** Returns the sequence of a key's newest snapshot; 0 for none. */
  readonly snapshot: (key: Token) => Promise<number>;
  /** Returns the key's generation: with a new one, its own stream must be looked up again. Default: a single generation. */
  readonly generationOf?: (key: Token) => string;
}

export interface LogStream {
  /** Creation time: differs between streams of the same name. */
  readonly epoch: string;
  readonly replicas: number;
  /** Highest sequence of the key that the leader is known to have: replicas will show it soon. */
  readonly leaderSequence: number;
}

interface Stream {
  epoch: string;
  replicas: number;
  /** Highest sequence seen, in this stream or an earlier one of the name. */
  highest: number;
  /** Monotonic time of the last look. */
  seenAt: number;
  present: boolean;
  /** True if it is known to be ahead of everything seen, including snapshots: required for appends. */
  sound: boolean;
  /** Incremented when it is created or found for an append. */
  round: number;
  /** Its creation in progress, shared by all appends that wait. */
  creating: Promise<void> | undefined;
}

interface Known {
  /** Highest sequence that the leader is known to have, and the epoch of its stream. */
  leaderSequence: number;
  epoch: string;
  /** Highest sequence seen. It proves nothing about the stream, since a snapshot may be forged. */
  highest: number;
  /** The round of the stream in which the key was checked. */
  round: number;
  /** Generation at the last access. */
  generation: string;
  /** Its check in progress, shared by all appends that wait. */
  checking: Promise<void> | undefined;
}

/** Evicting costs one request for each key and stream that is used again. */
const MAX_KNOWN = 100_000;
/** Time that a stream's identity is cached for reads. */
const TRUSTED_MS = 5000;
/** Concurrent creations: the server makes streams one by one, and meanwhile answers no question about any. */
const MADE_AT_ONCE = 1;

/**
 * Tracks the streams of keys, which may be shared: existence and identity of each stream, and what is known of each key in it.
 *
 * Identity is polled instead of inferred from publishes and reads: a client that subscribes to `session.>`, such as `caughtUp`
 * or `nats sub`, suppresses the "no responders" answer of a missing stream, so that only a timeout would tell.
 *
 * Each key is checked once before its first append: if its snapshot is ahead of the stream, the stream was restored from an
 * earlier backup. The check is repeated when the stream is created or found again.
 */
export class KeyStreams {
  readonly #jsm: JetStreamManager;
  readonly #options: KeyStreamsOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #keys = new Map<Token, Known>();
  readonly #making = new Semaphore(MADE_AT_ONCE);

  constructor(jsm: JetStreamManager, options: KeyStreamsOptions) {
    this.#jsm = jsm;
    this.#options = options;
  }

  async find(key: Token): Promise<LogStream | undefined> {
    this.#checkGeneration(key);
    const stream = this.#streamOf(key);
    if (!stream.present || performance.now() - stream.seenAt >= TRUSTED_MS) await this.#look(key, stream);
    if (!stream.present) return undefined;
    const { epoch, replicas } = stream;
    const known = this.#keys.get(key);
    return { epoch, replicas, leaderSequence: known?.epoch === epoch ? known.leaderSequence : 0 };
  }

  /** Returns true if the key can be appended to without a look. */
  present(key: Token): boolean {
    this.#checkGeneration(key);
    const { present, sound, round } = this.#streamOf(key);
    return present && sound && this.#keys.get(key)?.round === round;
  }

  /** Creates the stream of a key, unless it is known to exist, and checks the key. */
  async ensure(key: Token): Promise<void> {
    const stream = this.#streamOf(key);
    if (!stream.present || !stream.sound) {
      // The state in memory may be ahead of what is known of the stream.
      stream.highest = Math.max(stream.highest, this.highest(key));
      stream.creating ??= this.#create(key, stream);
      await stream.creating;
    }
    if (this.present(key)) return;
    const known = this.#known(key);
    known.checking ??= this.#checkSnapshot(key, known, stream);
    await known.checking;
  }

  highest(key: Token): number {
    return this.#keys.get(key)?.highest ?? 0;
  }

  /** Records a sequence of a key, as reported by the `leader` of its stream or as read. */
  reached(key: Token, sequence: number, by: 'leader' | 'read'): void {
    const known = this.#known(key);
    known.highest = Math.max(known.highest, sequence);
    if (by === 'read') return;
    const stream = this.#streamOf(key);
    known.leaderSequence = known.epoch === stream.epoch ? Math.max(known.leaderSequence, sequence) : sequence;
    known.epoch = stream.epoch;
    stream.highest = Math.max(stream.highest, sequence);
  }

  /** Records that the leader has nothing of a key after a sequence. */
  removed(key: Token, after: number): void {
    const known = this.#keys.get(key);
    if (known !== undefined) known.leaderSequence = Math.min(known.leaderSequence, after);
  }

  /** Makes the next read check the identity of the stream. */
  invalidate(key: Token): void {
    this.#streamOf(key).seenAt = Number.NEGATIVE_INFINITY;
  }

  /** Makes the next append create the stream, unless it exists. */
  missed(key: Token): void {
    this.#streamOf(key).present = false;
  }

  /** Looks the stream up again if the key's generation has changed. */
  #checkGeneration(key: Token): void {
    const known = this.#keys.get(key);
    const generation = this.#generationOf(key);
    if (known === undefined || known.generation === generation) return;
    known.generation = generation;
    this.missed(key);
  }

  #generationOf(key: Token): string {
    return this.#options.generationOf?.(key) ?? '';
  }

  #streamOf(key: Token): Stream {
    const name = this.#options.nameOf(key);
    const found = this.#streams.get(name);
    if (found !== undefined) return found;
    if (this.#streams.size >= MAX_KNOWN) this.#streams.clear();
    const stream: Stream = {
      epoch: '',
      replicas: 1,
      highest: 0,
      seenAt: Number.NEGATIVE_INFINITY,
      present: false,
      sound: false,
      round: 0,
      creating: undefined,
    };
    this.#streams.set(name, stream);
    return stream;
  }

  #known(key: Token): Known {
    const found = this.#keys.get(key);
    if (found !== undefined) return found;
    if (this.#keys.size >= MAX_KNOWN) this.#keys.clear();
    const known: Known = {
      leaderSequence: 0,
      epoch: '',
      highest: 0,
      round: 0,
      generation: this.#generationOf(key),
      checking: undefined,
    };
    this.#keys.set(key, known);
    return known;
  }

  async #look(key: Token, stream: Stream): Promise<void> {
    const name = this.#options.nameOf(key);
    // An append during the request may not be counted in the answer.
    const { highest } = stream;
    const info = await ifExists(this.#jsm.streams.info(name), `reading ${name}`);
    if (info === undefined) stream.present = false;
    else seen(stream, info, highest);
  }

  async #create(key: Token, stream: Stream): Promise<void> {
    const name = this.#options.nameOf(key);
    try {
      const info = await this.#making.run(() => {
        stream.round += 1;
        return this.#options.make(name, stream.highest);
      });
      seen(stream, info, 0);
      stream.highest = info.state.last_seq;
      stream.sound = true;
    } catch (error) {
      throw toThroughlineError(error, `making stream ${name}`);
    } finally {
      stream.creating = undefined;
    }
  }

  async #checkSnapshot(key: Token, known: Known, stream: Stream): Promise<void> {
    const { round } = stream;
    try {
      const snapshot = await this.#options.snapshot(key);
      if (snapshot > stream.highest) await this.#look(key, stream);
      if (snapshot > stream.highest)
        throw restoredAlone(this.#options.nameOf(key), stream.highest, `its snapshot at ${snapshot}`);
      Object.assign(known, { highest: 0, round });
    } catch (error) {
      throw toThroughlineError(error, `looking at the log of ${key}`);
    } finally {
      known.checking = undefined;
    }
  }
}

/** Takes what the leader says of a stream. @param expected the highest sequence when it was asked */
function seen(stream: Stream, { created, config, state }: StreamInfo, expected: number): void {
  const epoch = String(created);
  stream.sound &&= stream.epoch === epoch && state.last_seq >= expected;
  stream.highest = Math.max(stream.highest, state.last_seq);
  stream.seenAt = performance.now();
  stream.present = true;
  Object.assign(stream, { epoch, replicas: config.num_replicas });
}
