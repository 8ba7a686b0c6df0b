import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import { readEvent, writeEvent } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { Logger } from '../ports/logger.js';
import type { EventLog, ReadResult } from '../ports/session-log.js';
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
interface StateReaderOptions<State extends Sequenced, Event extends { readonly type: string }> {
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
  /**
   * Names the life of a key: where it changes, what was folded before is not used any longer. Throws while a key may not be
   * read. Default: each has one.
   */
  readonly lifeOf?: (key: Token) => string;
}

/** A state must say up to where its log has been folded, and which event counted last. */
export interface Sequenced {
  sequence: number;
  lastEvent: number;
  /** Sequence of the newest event that stands for all before it, which may be gone. Default: 0, for none. */
  checkpoint?: number;
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
  /** In which life of the key it was folded. */
  readonly life: string;
}

/** A state as loaded for one request. */
export interface Loaded<State> {
  readonly folded: Folded<State>;
  /** Events read for this load. */
  readonly replayed: number;
  /** Whether all events are folded that were stored; `false` only where the read was limited. */
  readonly isWhole: boolean;
}

/** A state as a command is decided on. */
interface Decidable<State> {
  readonly state: State;
  /** The loaded state that this is, with everything that was stored; none for a copy with all commands, and not all others. */
  readonly folded?: Folded<State>;
}

/** What became of an event that was appended: it counts, another command came before it, or it is not shown yet. */
export type Standing = 'counts' | 'refused' | 'unseen';

/** Events for which a command waits; where more have come, it goes by the commands among them. */
const MOST_FOR_COMMAND = 32;
/** How the others are folded meanwhile. */
const MOST_FOR_CATCH_UP = 25;
const CATCH_UP_EVERY_MS = 25;

/** A state with all commands of a log. */
interface Ahead<State> {
  readonly state: State;
  readonly epoch: string | undefined;
  readonly life: string;
}

/** The reads of one key. */
interface Reads<State> {
  running: Promise<Loaded<State>> | undefined;
  next: Promise<Loaded<State>> | undefined;
}

export class StateReader<State extends Sequenced, Event extends { readonly type: string }> {
  readonly #options: StateReaderOptions<State, Event>;
  /** Loads that found their state in memory, those that did not, and the events folded, since the start. */
  readonly counts = { hits: 0, misses: 0, events: 0 };
  readonly #folded: LRUCache<Token, Folded<State>>;
  /** Keys that were asked for while the cache was full. */
  readonly #asked: LRUCache<Token, true>;
  readonly #reads = new Map<Token, Reads<State>>();
  /** States with all commands, of keys whose other events are still being folded; and the log that they come from. */
  readonly #ahead = new Map<Token, Ahead<State>>();

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
   * The state with every command that was stored when this was called: no other event changes what commands may do, and
   * they need not wait for a burst of them to be folded.
   */
  async loadForCommand(key: Token): Promise<Decidable<State>> {
    const { log, folding } = this.#options;
    const life = this.#lifeOf(key);
    if (folding.fork === undefined) return this.#wholeForCommand(key);
    let ahead = this.#ahead.get(key);
    if (ahead === undefined || ahead.life !== life) {
      this.#ahead.delete(key);
      const { folded, isWhole } = await this.#glance(key, MOST_FOR_COMMAND);
      if (isWhole) return { state: folded.state, folded };
      ahead = this.#ahead.get(key) ?? this.#goAhead(folded, folding.fork(folded.state));
    }
    const { state, epoch } = ahead;
    const read = await log.read(key, { after: state.sequence, commands: true });
    if (read.epoch !== epoch || this.#lifeOf(key) !== life) {
      this.#ahead.delete(key);
      return this.#wholeForCommand(key);
    }
    this.#foldCommands(state, read);
    return { state: folding.fork(state) };
  }

  async #wholeForCommand(key: Token): Promise<Decidable<State>> {
    const { folded } = await this.load(key);
    return { state: folded.state, folded };
  }

  /**
   * Folds an event that this process has just stored directly behind a loaded state, from the bytes that a reader would
   * get, and gives the state behind it. Reads the log only if that did not exist when the state was loaded: its epoch is
   * not known then.
   */
  async foldAppended(folded: Folded<State>, event: Event, sequence: number): Promise<State> {
    const { key, state, epoch } = folded;
    const { format } = this.#options.folding;
    if (epoch === undefined) return (await this.load(key)).folded.state;
    // Unless another load has read it meanwhile. Nothing lies in between: the append expected that.
    if (state.sequence < sequence) {
      const written = writeEvent(format, key, event, { after: state.sequence });
      const stored = readEvent(format, key, written);
      const events = stored === undefined ? [] : [{ sequence, ...stored }];
      const isKept = this.#folded.get(key) === folded;
      if (isKept) this.#folded.delete(key);
      this.#fold(folded, { events, through: sequence, skipped: 1 - events.length, epoch });
      if (isKept) this.#keep(folded, true);
      this.#options.onFolded?.(folded);
    }
    return state;
  }

  /** A copy of a state, to fold only commands on; `undefined` if the log has no other events. */
  fork(state: State): State | undefined {
    return this.#options.folding.fork?.(state);
  }

  /** Folds the commands through an appended one on such a copy, and says what became of it. */
  async foldThrough(key: Token, state: State, sequence: number): Promise<Standing> {
    const { log } = this.#options;
    const read = await log.read(key, { after: state.sequence, through: sequence, commands: true });
    this.#foldCommands(state, read);
    const ahead = this.#ahead.get(key);
    if (ahead !== undefined && ahead.epoch === read.epoch && ahead.state.sequence < state.sequence) {
      this.#ahead.set(key, { ...ahead, state: this.fork(state) ?? state });
    }
    if (state.lastEvent === sequence) return 'counts';
    return read.through < sequence ? 'unseen' : 'refused';
  }

  /** Whether the event at a sequence counts. */
  async counted(key: Token, sequence: number): Promise<boolean> {
    return (await this.#foldTo(key, sequence))?.folded.state.lastEvent === sequence;
  }

  /**
   * The state as it was when the event at `sequence` was the last. Folded again, from a snapshot where one is
   * old enough.
   *
   * @throws ThroughlineError `not_caught_up` when the log does not reach that sequence yet, `not_found` when the events
   * up to it have given way to a checkpoint
   */
  async loadAsOf(key: Token, sequence: number): Promise<Loaded<State>> {
    const { kind } = this.#options.folding.format;
    const newest = await this.load(key);
    const { sequence: at, checkpoint = 0 } = newest.folded.state;
    if (sequence < checkpoint) {
      throw new ThroughlineError(
        'not_found',
        `asOf is ${sequence}, but the events of ${kind} ${key} before ${checkpoint} were removed: ask for that sequence or a later one`,
        { details: { [kind]: key, asOf: sequence, from: checkpoint } },
      );
    }
    if (at < sequence) {
      throw new ThroughlineError(
        'not_caught_up',
        `asOf is ${sequence}, but ${kind} ${key} is at ${at}: ask for that sequence or an earlier one`,
        { details: { [kind]: key, asOf: sequence, sequence: at } },
      );
    }
    const loaded = await this.#foldTo(key, sequence);
    if (loaded === undefined) throw await this.#before(key, sequence);
    return loaded;
  }

  /** The state as it was then; `undefined` where the log has nothing of that time. */
  async #foldTo(key: Token, sequence: number): Promise<Loaded<State> | undefined> {
    const { log, snapshots } = this.#options;
    const snapshot = await snapshots.loadAtOrBefore(key, sequence);
    const folded = await this.#start(key, snapshot, this.#lifeOf(key));
    const range = { after: folded.state.sequence, through: sequence };
    const read = await log.read(key, range);
    // Before its first event every log is empty.
    if (sequence > 0 && range.after === 0 && read.through === 0) return undefined;
    const replayed = this.#fold(folded, read);
    return { folded, replayed, isWhole: true };
  }

  #lifeOf(key: Token): string {
    return this.#options.lifeOf?.(key) ?? '';
  }

  /** Folded states in memory. */
  get size(): number {
    return this.#folded.size;
  }

  /** Bytes that they take, about. */
  get bytes(): number {
    return this.#folded.calculatedSize;
  }

  /** One read, once the one before it is over. The read that waits comes next, whatever else is asked for meanwhile. */
  #turn(key: Token, reads: Reads<State>, before?: Promise<unknown>, limit?: number): Promise<Loaded<State>> {
    const read = () => this.#refresh(key, limit);
    return (before === undefined ? read() : before.then(read, read)).finally(() => {
      reads.running = reads.next;
      reads.next = undefined;
      if (reads.running === undefined) this.#reads.delete(key);
    });
  }

  /** Loads what has come, up to a number of events; `isWhole` is false as well where it is not sure that this is all. */
  async #glance(key: Token, limit: number): Promise<Loaded<State>> {
    const running = this.#reads.get(key)?.running;
    if (running !== undefined) {
      const loaded = await running;
      // Another caller already reads again: this one does not wait for that read as well.
      if (this.#reads.has(key)) return { ...loaded, isWhole: false };
    }
    const reads: Reads<State> = { running: undefined, next: undefined };
    this.#reads.set(key, reads);
    reads.running = this.#turn(key, reads, undefined, limit);
    return reads.running;
  }

  #goAhead({ key, epoch, life }: Folded<State>, state: State) {
    const ahead = { state, epoch, life };
    this.#ahead.set(key, ahead);
    this.#catchUp(key);
    return ahead;
  }

  /** Folds the rest, some at a time, so that no request waits for it. A fault ends it: the next command begins it again. */
  #catchUp(key: Token): void {
    setTimeout(() => {
      this.#glance(key, MOST_FOR_CATCH_UP).then(
        ({ isWhole }) => (isWhole ? this.#ahead.delete(key) : this.#catchUp(key)),
        () => this.#ahead.delete(key),
      );
    }, CATCH_UP_EVERY_MS).unref();
  }

  #foldCommands(state: State, read: ReadResult<Event>): void {
    for (const stored of read.events) {
      if (stored.sequence > state.sequence) this.#options.folding.evolve(state, stored);
    }
    state.sequence = Math.max(state.sequence, read.through);
  }

  /** Says that a log has nothing of the time that was asked for. */
  async #before(key: Token, sequence: number): Promise<ThroughlineError> {
    const { log, folding } = this.#options;
    const [first] = (await log.read(key, { after: 0, limit: 1 })).events;
    const begins = first === undefined ? 'is empty' : `begins at ${first.sequence}`;
    return new ThroughlineError(
      'not_found',
      `asOf is ${sequence}, but the log of ${folding.format.kind} ${key} ${begins}: sequences from before a restore into another layout are gone`,
      { details: { [folding.format.kind]: key, asOf: sequence } },
    );
  }

  async #refresh(key: Token, limit?: number): Promise<Loaded<State>> {
    const { log, snapshots, onFolded, folding, logger } = this.#options;
    const life = this.#lifeOf(key);
    const kept = this.#folded.get(key);
    const cached = kept?.life === life ? kept : undefined;
    if (cached === undefined) this.counts.misses += 1;
    else this.counts.hits += 1;
    const snapshot = cached === undefined ? await snapshots.load(key) : undefined;
    const folded = cached ?? (await this.#start(key, snapshot, life));
    const range = { after: folded.state.sequence, ...(limit !== undefined && { limit }) };
    const read = await log.read(key, range);
    // If the fold throws halfway, the changed state must not be in the cache.
    this.#folded.delete(key);
    if (this.#lifeOf(key) !== life) return this.#refresh(key, limit);
    if (folded.epoch !== undefined && folded.epoch !== read.epoch) {
      logger.warn(
        { [folding.format.kind]: key },
        'the log was removed: folding again from the newest snapshot',
      );
      return this.#refresh(key, limit);
    }
    const replayed = this.#fold(folded, read);
    this.#keep(folded, cached !== undefined);
    const isWhole = limit === undefined || read.events.length + read.skipped < limit;
    // Of what is folded bit by bit, there is one snapshot at the end.
    if (isWhole && replayed > 0) onFolded?.(folded);
    return { folded, replayed, isWhole };
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
    // What was appended during the read is folded already.
    const events = read.events.filter(({ sequence }) => sequence > state.sequence);
    for (const stored of events) folding.evolve(state, stored);
    state.sequence = Math.max(state.sequence, read.through);
    folded.epoch = read.epoch;
    this.counts.events += events.length;
    // Skipped messages cost a read as well: many of them must not be read again at each start.
    folded.sinceSnapshot += events.length + read.skipped;
    if (read.skipped > 0) {
      logger.warn(
        { [folding.format.kind]: key, code: 'schema_invalid', skipped: read.skipped },
        'messages that are not valid events were skipped',
      );
    }
    return events.length;
  }

  /** Where the fold begins: at the newest usable snapshot, else at nothing. */
  async #start(key: Token, snapshot: StoredSnapshot | undefined, life: string): Promise<Folded<State>> {
    const { folding, logger, snapshots } = this.#options;
    const decoded = snapshot && folding.decode(key, snapshot.text);
    if (decoded?.ok) {
      const { state } = decoded;
      return { key, state, snapshotSequence: state.sequence, sinceSnapshot: 0, epoch: undefined, life };
    }
    if (decoded !== undefined) {
      logger.warn(
        { [folding.format.kind]: key, code: 'schema_invalid', reason: decoded.reason },
        'snapshot ignored',
      );
    }
    if (snapshot !== undefined && snapshot.sequence > 0) {
      return this.#start(key, await snapshots.loadAtOrBefore(key, snapshot.sequence - 1), life);
    }
    return { key, state: folding.empty(key), snapshotSequence: 0, sinceSnapshot: 0, epoch: undefined, life };
  }
}
