import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../contracts/errors.js';
import type { Token } from '../contracts/names.js';
import type { EventLog, ReadResult } from '../ports/event-log.js';
import type { Logger } from '../ports/logger.js';
import type { SnapshotStore, StoredSnapshot } from '../ports/snapshot-store.js';
import type { Folding } from './folding.js';

/**
 * Loads the state of each key from its events: a session, or a project. Snapshot first, then only newer events; after
 * that, only what has come since the last load.
 *
 * Folded states stay in a cache that is bounded in number and in memory. Once it is full, a state gets in when it is
 * loaded for the second time, and the least recently used ones go: looking at thousands once pushes out none.
 * However many requests ask for one key, at most one read of it runs and one waits; a request that comes while a read
 * runs waits for the next one, so it sees everything that was stored before it asked.
 */
export interface StateReaderOptions<State extends Sequenced, Event> {
  readonly log: EventLog<Event>;
  readonly snapshots: SnapshotStore;
  readonly folding: Folding<State, Event>;
  readonly logger: Logger;
  /** Folded states kept in memory. */
  readonly maxCached: number;
  /** Bytes of memory that they may take together, about. Default: any number. */
  readonly maxBytes?: number;
  /** Told after each load that folded something. */
  readonly onFolded?: (folded: Folded<State>) => void;
}

/** A state must say up to where its log has been folded. */
export interface Sequenced {
  sequence: number;
}

/** A state in the cache. It belongs to the reader and changes with the next load: use it at once. */
export interface Folded<State> {
  readonly key: Token;
  readonly state: State;
  /** Sequence of the snapshot that the fold began from; 0 for none. */
  readonly snapshotSequence: number;
  /** Events folded since a snapshot was last read or written. */
  sinceSnapshot: number;
  /** Of the log that it was last read from; none before the first read. */
  epoch: string | undefined;
}

/** A state as loaded for one request. */
export interface Loaded<State> {
  readonly folded: Folded<State>;
  /** Events read for this load. */
  readonly replayed: number;
}

/** The reads of one key. */
interface Reads<State> {
  running: Promise<Loaded<State>> | undefined;
  next: Promise<Loaded<State>> | undefined;
}

export class StateReader<State extends Sequenced, Event> {
  readonly #options: StateReaderOptions<State, Event>;
  readonly #folded: LRUCache<Token, Folded<State>>;
  /** Keys that were asked for while the cache was full. */
  readonly #asked: LRUCache<Token, true>;
  readonly #reads = new Map<Token, Reads<State>>();

  constructor(options: StateReaderOptions<State, Event>) {
    this.#options = options;
    const { maxCached: max, maxBytes: maxSize = Number.MAX_SAFE_INTEGER } = options;
    this.#folded = new LRUCache({ max, maxSize });
    this.#asked = new LRUCache({ max });
  }

  /** The state with everything that was stored when this was called. */
  load(key: Token): Promise<Loaded<State>> {
    const reads = this.#reads.get(key) ?? { running: undefined, next: undefined };
    this.#reads.set(key, reads);
    if (reads.running !== undefined) {
      reads.next ??= this.#turn(key, reads, reads.running);
      return reads.next;
    }
    reads.running = this.#turn(key, reads);
    return reads.running;
  }

  /**
   * The state as it was when the event at `sequence` was the last. Folded again, from a snapshot where one is
   * old enough.
   *
   * @throws ThroughlineError `not_caught_up` when the log does not reach that sequence yet
   */
  async loadAsOf(key: Token, sequence: number): Promise<Loaded<State>> {
    const { log, snapshots, folding } = this.#options;
    const newest = await this.load(key);
    const at = newest.folded.state.sequence;
    if (at < sequence) {
      const { kind } = folding;
      throw new ThroughlineError(
        'not_caught_up',
        `asOf is ${sequence}, but ${kind} ${key} is at ${at}: ask for that sequence or an earlier one`,
        { details: { [kind]: key, asOf: sequence, sequence: at } },
      );
    }
    const folded = await this.#start(key, await snapshots.loadAtOrBefore(key, sequence));
    const range = { after: folded.state.sequence, through: sequence };
    const replayed = this.#fold(folded, await log.read(key, range));
    return { folded, replayed };
  }

  /** Folded states in memory. */
  get size(): number {
    return this.#folded.size;
  }

  /** One read, once the one before it is over. The read that waits comes next, whatever else is asked for meanwhile. */
  #turn(key: Token, reads: Reads<State>, before?: Promise<unknown>): Promise<Loaded<State>> {
    const read = () => this.#refresh(key);
    return (before === undefined ? read() : before.then(read, read)).finally(() => {
      reads.running = reads.next;
      reads.next = undefined;
      if (reads.running === undefined) this.#reads.delete(key);
    });
  }

  async #refresh(key: Token): Promise<Loaded<State>> {
    const { log, snapshots, onFolded, folding, logger } = this.#options;
    const cached = this.#folded.get(key);
    const folded = cached ?? (await this.#start(key, await snapshots.load(key)));
    const read = await log.read(key, { after: folded.state.sequence });
    // If the fold throws halfway, the changed state must not be in the cache.
    this.#folded.delete(key);
    if (folded.epoch !== undefined && folded.epoch !== read.epoch) {
      logger.warn({ [folding.kind]: key }, 'the log was removed: folding again from the newest snapshot');
      return this.#refresh(key);
    }
    const replayed = this.#fold(folded, read);
    this.#keep(folded, cached !== undefined);
    if (replayed > 0) onFolded?.(folded);
    return { folded, replayed };
  }

  #keep(folded: Folded<State>, wasKept: boolean): void {
    const { key, state } = folded;
    const { max, maxSize, calculatedSize } = this.#folded;
    // One that is larger than all together may be is kept alone.
    const size = Math.min(this.#options.folding.bytes(state), maxSize);
    const isFull = this.#folded.size >= max || calculatedSize + size > maxSize;
    // Once it has given way to others it must be asked for twice again.
    if (isFull && !wasKept && !this.#asked.delete(key)) this.#asked.set(key, true);
    else this.#folded.set(key, folded, { size });
  }

  #fold(folded: Folded<State>, read: ReadResult<Event>): number {
    const { key, state } = folded;
    const { folding, logger } = this.#options;
    for (const stored of read.events) folding.evolve(state, stored);
    state.sequence = Math.max(state.sequence, read.through);
    folded.epoch = read.epoch;
    // Skipped messages cost a read as well: many of them must not be read again at each start.
    folded.sinceSnapshot += read.events.length + read.skipped;
    if (read.skipped > 0) {
      logger.warn(
        { [folding.kind]: key, code: 'schema_invalid', skipped: read.skipped },
        'messages that are not valid events were skipped',
      );
    }
    return read.events.length;
  }

  /** Where the fold begins: at the newest usable snapshot, else at nothing. */
  async #start(key: Token, snapshot: StoredSnapshot | undefined): Promise<Folded<State>> {
    const { folding, logger, snapshots } = this.#options;
    const decoded = snapshot && folding.decode(key, snapshot.text);
    if (decoded?.ok) {
      const { state } = decoded;
      return { key, state, snapshotSequence: state.sequence, sinceSnapshot: 0, epoch: undefined };
    }
    if (decoded !== undefined) {
      logger.warn(
        { [folding.kind]: key, code: 'schema_invalid', reason: decoded.reason },
        'snapshot ignored',
      );
    }
    if (snapshot !== undefined && snapshot.sequence > 0) {
      return this.#start(key, await snapshots.loadAtOrBefore(key, snapshot.sequence - 1));
    }
    return { key, state: folding.empty(key), snapshotSequence: 0, sinceSnapshot: 0, epoch: undefined };
  }
}
