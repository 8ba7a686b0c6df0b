import type { JetStreamManager } from 'nats';
import type { Token } from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { type KnownStream, LogStreams, type MakeStream } from './log-streams.js';
import { behindSnapshot } from './topology.js';

/**
 * What this process knows of the streams of keys, which may share them: of each stream what `LogStreams` knows, by its name, and of
 * each key what cannot be said of its neighbours.
 *
 * A key is looked at once before its first append to a stream: where its snapshot is ahead of the stream, the stream was
 * restored from an earlier backup. When the stream is made or found again, so is each key.
 */
interface KeyStreamsOptions {
  /** The stream that holds the events of a key. */
  readonly nameOf: (key: Token) => string;
  readonly make: MakeStream;
  /** Sequence of a key's newest snapshot, 0 for none. */
  readonly snapshot: (key: Token) => Promise<number>;
  /** Names the life of a key: a stream of its own is gone with the one before, also where nobody has told so. Default: each has one. */
  readonly lifeOf?: (key: Token) => string;
}

/** The stream of a key. */
export interface LogStream extends KnownStream {
  /** Highest sequence of the key that the leader of this stream is known to hold: each replica shows it soon. */
  readonly held: number;
}

interface Known {
  /** Highest sequence of the key that the leader of its stream is known to hold, and which stream that is. */
  held: number;
  epoch: string | undefined;
  /** Highest sequence that was seen of the key. It says nothing of the stream: a snapshot may be forged. */
  highest: number;
  /** That of its snapshot when it was last looked at. */
  floor: number;
  /** The round of its stream in which it was looked at. */
  round: number;
  /** When it was met last. */
  life: string;
}

const MAX_KNOWN = 100_000;

export class KeyStreams {
  readonly #options: KeyStreamsOptions;
  readonly #streams: LogStreams;
  /** How often each stream was made or found for an append. */
  readonly #rounds = new Map<string, number>();
  readonly #keys = new Map<Token, Known>();
  /** Keys that are being looked at: one request each, however many appends wait for it. */
  readonly #looking = new Map<Token, Promise<void>>();

  constructor(jsm: JetStreamManager, options: KeyStreamsOptions) {
    this.#options = options;
    this.#streams = new LogStreams(jsm, (stream, highest) => {
      this.#rounds.set(stream, this.#round(stream) + 1);
      return options.make(stream, highest);
    });
  }

  /** The stream of a key, or `undefined` where there is none. */
  async find(key: Token): Promise<LogStream | undefined> {
    this.#notice(key);
    const stream = await this.#streams.find(this.#stream(key));
    if (stream === undefined) return undefined;
    const known = this.#keys.get(key);
    const held = known?.epoch === stream.epoch ? known.held : 0;
    return { ...stream, held };
  }

  /** Returns true where an append may count on the stream of a key. */
  present(key: Token): boolean {
    this.#notice(key);
    const stream = this.#stream(key);
    return this.#streams.present(stream) && this.#keys.get(key)?.round === this.#round(stream);
  }

  /** Returns true where events of a key may be published in batches. */
  batches(key: Token): boolean {
    return this.#streams.known(this.#stream(key))?.batches === true;
  }

  /** Makes the stream of a key where it is not known to be there. */
  async ensure(key: Token): Promise<void> {
    const stream = this.#stream(key);
    if (!this.#streams.present(stream)) {
      // A state in memory may have come farther than this process knows of the stream.
      this.#streams.reached(stream, this.highest(key));
      await this.#streams.ensure(stream);
    }
    if (this.present(key)) return;
    const looking = this.#looking.get(key) ?? this.#look(key, stream);
    this.#looking.set(key, looking);
    await looking;
  }

  /** Highest sequence that was seen of a key; 0 for none. */
  highest(key: Token): number {
    return this.#keys.get(key)?.highest ?? 0;
  }

  /** Sequence that whatever is stored now must be above; 0 where none is known. */
  floor(key: Token): number {
    return this.#keys.get(key)?.floor ?? 0;
  }

  /** Notes a sequence of a key, as the `leader` of its stream has named it, or one that was read. */
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

  /** Notes that the leader holds nothing of a key after a sequence any more. */
  gone(key: Token, after: number): void {
    const known = this.#keys.get(key);
    if (known !== undefined) known.held = Math.min(known.held, after);
  }

  /** Has the next read look whether the stream is still the same. */
  doubt(key: Token): void {
    this.#streams.doubt(this.#stream(key));
  }

  /** Has the next append make the stream, unless it is there. */
  missed(key: Token): void {
    this.#streams.missed(this.#stream(key));
  }

  /** Looks for the stream again where the key leads another life. */
  #notice(key: Token): void {
    const { lifeOf } = this.#options;
    const known = this.#keys.get(key);
    if (lifeOf === undefined || known === undefined) return;
    const life = lifeOf(key);
    if (known.life === life) return;
    known.life = life;
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
    // Forgetting costs one request for each key that is appended to again.
    if (this.#keys.size >= MAX_KNOWN) this.#keys.clear();
    const life = this.#options.lifeOf?.(key) ?? '';
    const fresh: Known = { held: 0, epoch: undefined, highest: 0, floor: 0, round: 0, life };
    this.#keys.set(key, fresh);
    return fresh;
  }

  async #look(key: Token, stream: string): Promise<void> {
    const round = this.#round(stream);
    try {
      const snapshot = await this.#options.snapshot(key);
      if (snapshot > this.#streams.highest(stream)) {
        this.#streams.doubt(stream);
        await this.#streams.find(stream);
        const last = this.#streams.highest(stream);
        if (snapshot > last) throw behindSnapshot(stream, last, snapshot);
      }
      Object.assign(this.#known(key), { highest: 0, floor: snapshot, round });
    } catch (error) {
      throw toThroughlineError(error, `looking at the log of ${key}`);
    } finally {
      this.#looking.delete(key);
    }
  }
}
