import type { JetStreamManager } from 'nats';
import type { Token } from '../../contracts/names.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import { type KeyStreams, type LogStream, LogStreams } from './log-streams.js';
import { behindSnapshot, type MadeStream } from './topology.js';

/**
 * What this process knows of the streams of keys, which may share them: of each stream what `LogStreams` knows, by its name, and of
 * each key what cannot be said of its neighbours.
 *
 * A key is looked at once before its first append to a stream: where its snapshot is ahead of the stream, the stream was
 * restored from an earlier backup. When the stream is made or found again, so is each key.
 */
export interface SharedLogStreamsOptions {
  /** The stream that holds the events of a key. */
  readonly nameOf: (key: Token) => string;
  /** Makes a stream, or finds it made; sequences up to `highest`, and those of any snapshot, must not come again. */
  readonly make: (stream: string, highest: number) => Promise<MadeStream>;
  /** Sequence of a key's newest snapshot, 0 for none. */
  readonly snapshot: (key: Token) => Promise<number>;
  /** Names the life of a key: a stream of its own is gone with the one before, also where nobody has told so. Default: each has one. */
  readonly lifeOf?: (key: Token) => string;
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

export class SharedLogStreams implements KeyStreams {
  readonly #options: SharedLogStreamsOptions;
  readonly #streams: LogStreams;
  /** How often each stream was made or found for an append. */
  readonly #rounds = new Map<string, number>();
  readonly #keys = new Map<Token, Known>();
  /** Keys that are being looked at: one request each, however many appends wait for it. */
  readonly #looking = new Map<Token, Promise<void>>();

  constructor(jsm: JetStreamManager, options: SharedLogStreamsOptions) {
    this.#options = options;
    this.#streams = new LogStreams(jsm, {
      nameOf: (stream) => stream,
      make: (stream, highest) => {
        this.#rounds.set(stream, this.#round(stream) + 1);
        return options.make(stream, highest);
      },
    });
  }

  async find(key: Token): Promise<LogStream | undefined> {
    this.#notice(key);
    const stream = await this.#streams.find(this.#stream(key));
    if (stream === undefined) return undefined;
    const known = this.#keys.get(key);
    const held = known?.epoch === stream.epoch ? known.held : 0;
    return { ...stream, held };
  }

  present(key: Token): boolean {
    this.#notice(key);
    const stream = this.#stream(key);
    return this.#streams.present(stream) && this.#keys.get(key)?.round === this.#round(stream);
  }

  batches(key: Token): boolean {
    return this.#streams.batches(this.#stream(key));
  }

  async ensure(key: Token): Promise<void> {
    const stream = this.#stream(key);
    if (!this.#streams.present(stream)) {
      // A state in memory may have come farther than this process knows of the stream.
      this.#streams.reached(stream, this.highest(key), 'read');
      await this.#streams.ensure(stream);
    }
    if (this.present(key)) return;
    const looking = this.#looking.get(key) ?? this.#look(key, stream);
    this.#looking.set(key, looking);
    await looking;
  }

  highest(key: Token): number {
    return this.#keys.get(key)?.highest ?? 0;
  }

  floor(key: Token): number {
    return this.#keys.get(key)?.floor ?? 0;
  }

  reached(key: Token, sequence: number, by: 'leader' | 'read'): void {
    const known = this.#known(key);
    known.highest = Math.max(known.highest, sequence);
    if (by === 'read') return;
    const stream = this.#stream(key);
    const epoch = this.#streams.epoch(stream);
    known.held = known.epoch === epoch ? Math.max(known.held, sequence) : sequence;
    known.epoch = epoch;
    this.#streams.reached(stream, sequence, by);
  }

  gone(key: Token, after: number): void {
    const known = this.#keys.get(key);
    if (known !== undefined) known.held = Math.min(known.held, after);
  }

  doubt(key: Token): void {
    this.#streams.doubt(this.#stream(key));
  }

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

  #stream(key: Token): Token {
    // A name of ours, made of a key or fixed: what stands in it is safe.
    return this.#options.nameOf(key) as Token;
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

  async #look(key: Token, stream: Token): Promise<void> {
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
