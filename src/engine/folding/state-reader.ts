import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { type EventFormat, type LogKind, readEvent, type Stored, writeEvent } from '../../contracts/event.js';
import type { Token } from '../../contracts/names.js';
import type { Clock, Logger } from '../ports/logger-and-clock.js';
import type {
  EventLog,
  ReadResult,
  SaveOutcome,
  SnapshotStore,
  StoredSnapshot,
} from '../ports/session-log.js';

/**
 * Loads the state of a session or project: the snapshot and newer events first, later only the tail since the last load.
 *
 * The cache is bounded in number and bytes. When it is full, a state enters on its second load, and the least recently used
 * ones leave, so that a scan over thousands of keys evicts nothing. Requests for one key are coalesced: at most one read runs
 * and one is queued. A request that arrives during a read waits for the queued one, so it sees everything stored before it.
 */
interface StateReaderOptions<State extends Sequenced, Event extends { readonly type: string }> {
  readonly log: EventLog<Event>;
  readonly snapshots: SnapshotStore;
  readonly folding: Folding<State, Event>;
  readonly logger: Logger;
  readonly maxCached: number;
  /** Approximate memory of the cached states in bytes. Default: unlimited. */
  readonly maxBytes?: number;
  readonly onFolded?: (folded: Folded<State>) => void;
  /** Returns the key's generation (default: one); states of another are discarded. Throws while it must not be read. */
  readonly generationOf?: (key: Token) => string;
}

export interface Sequenced {
  sequence: number;
  lastEvent: number;
  /** Sequence of the newest message at the places of commands. Default: all events are commands. */
  lastCommand?: number;
  /** Sequence of the newest checkpoint, before which events may be removed. Default: 0, for none. */
  checkpoint?: number;
}

/** A cached state. The reader owns it and changes it with the next load: use it at once. */
export interface Folded<State> {
  readonly key: Token;
  readonly state: State;
  /** Sequence of the snapshot that the fold started from; 0 for none. */
  readonly snapshotSequence: number;
  /** Events folded since a snapshot was last read or written. */
  sinceSnapshot: number;
  /** Epoch of the log at the last read; `undefined` before the first read. */
  epoch: string | undefined;
  readonly generation: string;
}

export interface Loaded<State> {
  readonly folded: Folded<State>;
  readonly replayed: number;
}

/** Share of the cache's bytes whose states keep what readers derived from them. */
const VIEWED_SHARE = 0.25;
/** Events folded in one turn of the event loop: ten milliseconds. With fewer, a load never reaches the end of a busy session. */
const MOST_IN_PART = 32;
/** Events held in memory while they are folded: a read of a long log is split. */
const MOST_IN_READ = 256;

interface Reads<State> {
  /** Pauses a read for which only background work waits. */
  between: (() => Promise<void>) | undefined;
  running: Promise<Loaded<State>> | undefined;
  next: Promise<Loaded<State>> | undefined;
}

export class StateReader<State extends Sequenced, Event extends { readonly type: string }> {
  readonly #options: StateReaderOptions<State, Event>;
  readonly #folded: LRUCache<Token, Folded<State>>;
  /** Those with what readers derive from a state, which is larger than the state itself. */
  readonly #viewed: LRUCache<Token, Folded<State>>;
  /** Keys requested once while the cache was full. */
  readonly #requestedOnce: LRUCache<Token, true>;
  readonly #reads = new Map<Token, Reads<State>>();
  /** Monotonic time at which the last whole read of a state began. */
  readonly #readAt = new WeakMap<Folded<State>, number>();

  constructor(options: StateReaderOptions<State, Event>) {
    this.#options = options;
    const { maxCached: max, maxBytes: maxSize = Number.MAX_SAFE_INTEGER, folding } = options;
    this.#folded = new LRUCache({ max, maxSize });
    const dispose = ({ state }: Folded<State>) => folding.dropViews?.(state);
    this.#viewed = new LRUCache({ max, maxSize: Math.ceil(maxSize * VIEWED_SHARE), dispose });
    this.#requestedOnce = new LRUCache({ max });
  }

  /**
   * Returns the state with everything stored when this was called. `between` pauses after every few events, until a caller
   * without pauses waits for the same key: in the background, a fold of thousands would slow everything else down.
   */
  load(key: Token, between?: () => Promise<void>): Promise<Loaded<State>> {
    const reads = this.#reads.get(key) ?? { running: undefined, next: undefined, between };
    this.#reads.set(key, reads);
    reads.between = between && reads.between;
    if (reads.running !== undefined) {
      reads.next ??= this.#turn(key, reads, reads.running);
      return reads.next;
    }
    reads.running = this.#turn(key, reads);
    return reads.running;
  }

  /** Loads as `load`, without a read if `isQuiet` says that nothing was stored since the last one began. */
  async loadUnlessQuiet(key: Token, isQuiet: (since: number) => boolean): Promise<Loaded<State>> {
    const kept = this.#folded.get(key);
    const since = kept?.generation === this.#lifeOf(key) ? this.#readAt.get(kept) : undefined;
    if (kept === undefined || since === undefined || !isQuiet(since)) return this.load(key);
    return { folded: kept, replayed: 0 };
  }

  /**
   * Folds a command that was just appended behind a loaded state, from the bytes that a reader would get, and returns the state.
   * Reads the log if other events may lie in between, or if it did not exist at the load, since its epoch is unknown then.
   *
   * @param after the sequence that its append expected
   */
  async foldAppended(folded: Folded<State>, event: Event, after: number, sequence: number): Promise<State> {
    const { key, state, epoch } = folded;
    const { format } = this.#options.folding;
    if (epoch === undefined || sequence !== state.sequence + 1) return (await this.load(key)).folded.state;
    const stored = readEvent(format, key, writeEvent(format, key, event, after));
    const events = stored === undefined ? [] : [{ sequence, ...stored }];
    const isKept = this.#folded.get(key) === folded;
    if (isKept) this.#folded.delete(key);
    const skipped = 1 - events.length;
    this.#fold(folded, { events, through: sequence, skipped, newestCommand: sequence, epoch });
    if (isKept) this.#keep(folded, true);
    this.#options.onFolded?.(folded);
    return state;
  }

  /**
   * Returns the state right after the event at `sequence`, folded from an old enough snapshot if there is one. Throws
   * `not_caught_up` if the log does not reach that sequence yet, `not_found` if the events up to it were replaced by a
   * checkpoint.
   */
  async loadAsOf(key: Token, sequence: number): Promise<Loaded<State>> {
    const { kind } = this.#options.folding.format;
    const newest = await this.load(key);
    const { sequence: at, checkpoint = 0 } = newest.folded.state;
    const fault = (code: ErrorCode, why: string, more = {}) =>
      new ThroughlineError(code, `asOf (--as-of) is ${sequence}, but ${why}`, {
        details: { [kind]: key, asOf: sequence, ...more },
      });
    if (sequence < checkpoint) {
      const removed = `the events of ${kind} ${key} before ${checkpoint} were removed`;
      throw fault('not_found', `${removed}: give that one or a later one`, { from: checkpoint });
    }
    if (at < sequence) {
      const why = `the newest event of ${kind} ${key} is ${at}: give that one or an earlier one`;
      throw fault('not_caught_up', why, { sequence: at });
    }
    const { log, snapshots } = this.#options;
    const snapshot = await snapshots.loadAtOrBefore(key, sequence);
    const folded = await this.#start(key, snapshot, this.#lifeOf(key));
    const range = { after: folded.state.sequence, through: sequence };
    const read = await log.read(key, range);
    // Every log is empty before its first event.
    if (sequence > 0 && range.after === 0 && read.through === 0)
      throw fault('not_found', `the log of ${kind} ${key} begins later`);
    return { folded, replayed: await this.#foldInParts(folded, read) };
  }

  #lifeOf(key: Token): string {
    return this.#options.generationOf?.(key) ?? '';
  }

  get size(): number {
    return this.#folded.size;
  }

  /** Runs one read after the previous one. The queued read comes next, whatever is requested meanwhile. */
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
    const generation = this.#lifeOf(key);
    const kept = this.#folded.get(key);
    const cached = kept?.generation === generation ? kept : undefined;
    const snapshot = cached === undefined ? await snapshots.load(key) : undefined;
    const folded = cached ?? (await this.#start(key, snapshot, generation));
    // A caller gets what was stored before its call, however much is stored meanwhile.
    let end: number | undefined;
    for (let replayed = 0; ; ) {
      const range = { after: folded.state.sequence, limit: MOST_IN_READ };
      const begun = performance.now();
      const read = await log.read(key, range);
      // The cache must not hold a state whose fold threw halfway.
      this.#folded.delete(key);
      if (this.#lifeOf(key) !== generation) return this.#refresh(key);
      if (folded.epoch !== undefined && folded.epoch !== read.epoch) {
        logger.warn(
          { [folding.format.kind]: key },
          'the log was removed: folding again from the newest snapshot',
        );
        return this.#refresh(key);
      }
      replayed += await this.#foldInParts(folded, read);
      const isWhole = read.events.length + read.skipped < MOST_IN_READ;
      if (!isWhole) {
        end ??= await log.newest(key);
        if (folded.state.sequence < end) continue;
      }
      this.#keep(folded, cached !== undefined);
      if (isWhole) this.#readAt.set(folded, begun);
      else this.#readAt.delete(folded);
      if (replayed > 0) onFolded?.(folded);
      return { folded, replayed };
    }
  }

  #keep(folded: Folded<State>, wasKept: boolean): void {
    const { key, state } = folded;
    const { max, maxSize, calculatedSize } = this.#folded;
    // A state larger than the whole cache is cached alone.
    const size = Math.min(this.#options.folding.bytes(state), maxSize);
    const isFull = this.#folded.size >= max || calculatedSize + size > maxSize;
    // An evicted key must be requested twice again.
    if (isFull && !wasKept && !this.#requestedOnce.delete(key)) this.#requestedOnce.set(key, true);
    else {
      this.#folded.set(key, folded, { size });
      this.#viewed.set(key, folded, { size: Math.min(size, this.#viewed.maxSize) });
    }
  }

  /** Folds with turns of the event loop between: a log of thousands of events holds up no other request. */
  async #foldInParts(folded: Folded<State>, read: ReadResult<Event>): Promise<number> {
    let from = 0;
    let replayed = 0;
    for (const { events } = read; events.length - from > MOST_IN_PART; from += MOST_IN_PART) {
      const part = events.slice(from, from + MOST_IN_PART);
      replayed += this.#fold(folded, { ...read, events: part, skipped: 0, through: 0, newestCommand: 0 });
      await (this.#reads.get(folded.key)?.between ?? nextTurn)();
    }
    return replayed + this.#fold(folded, { ...read, events: read.events.slice(from) });
  }

  #fold(folded: Folded<State>, read: ReadResult<Event>): number {
    const { key, state } = folded;
    const { folding, logger } = this.#options;
    // Events appended during the read are folded already.
    const events = read.events.filter(({ sequence }) => sequence > state.sequence);
    for (const stored of events) folding.evolve(state, stored);
    state.sequence = Math.max(state.sequence, read.through);
    if (state.lastCommand !== undefined)
      state.lastCommand = Math.max(state.lastCommand, read.newestCommand ?? 0);
    folded.epoch = read.epoch;
    // Skipped messages count too: many of them must not be read again at each start.
    folded.sinceSnapshot += events.length + read.skipped;
    if (read.skipped > 0) {
      logger.warn(
        { [folding.format.kind]: key, code: 'schema_invalid', skipped: read.skipped },
        'messages that are not valid events were skipped',
      );
    }
    return events.length;
  }

  /** Starts a fold from the newest usable snapshot, or from the empty state. */
  async #start(key: Token, snapshot: StoredSnapshot | undefined, generation: string): Promise<Folded<State>> {
    const { folding, logger, snapshots } = this.#options;
    const decoded = snapshot && folding.decode(key, snapshot.text);
    const begun = (state: State): Folded<State> => ({
      key,
      state,
      snapshotSequence: state.sequence,
      sinceSnapshot: 0,
      epoch: undefined,
      generation,
    });
    if (decoded?.ok) return begun(decoded.state);
    if (decoded !== undefined) {
      logger.warn(
        { [folding.format.kind]: key, code: 'schema_invalid', reason: decoded.reason },
        'snapshot ignored',
      );
    }
    if (snapshot !== undefined && snapshot.sequence > 0) {
      return this.#start(key, await snapshots.loadAtOrBefore(key, snapshot.sequence - 1), generation);
    }
    return begun(folding.empty(key));
  }
}

export interface Folding<State, Event> {
  readonly format: EventFormat<Event>;
  empty(key: string): State;
  evolve(state: State, stored: Stored<Event>): unknown;
  /** Approximate memory of a state in bytes; called after each fold. */
  bytes(state: State): number;
  /** Frees what was derived from a state for its readers, who derive it again. */
  dropViews?(state: State): void;
  encode(state: State, createdAt: string): string;
  /** Decodes a snapshot, or says why it cannot be used. */
  decode(
    key: string,
    text: string,
  ): { readonly ok: true; readonly state: State } | { readonly ok: false; readonly reason: string };
}

/** Writes a snapshot every `every` folded events, off the request path; a failed write is retried with the next. */
export interface SnapshotWriterOptions<State> {
  readonly folding: { readonly format: { readonly kind: LogKind } } & Pick<Folding<State, never>, 'encode'>;
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every: number;
}

export class SnapshotWriter<State extends Sequenced> {
  readonly #options: SnapshotWriterOptions<State>;
  readonly counts = { written: 0, failed: 0 };
  readonly #running = new Map<Token, Promise<void>>();

  constructor(options: SnapshotWriterOptions<State>) {
    this.#options = options;
  }

  /** Schedules a write when enough events have been folded since the last one. */
  folded(folded: Folded<State>): void {
    const { key } = folded;
    if (folded.sinceSnapshot < this.#options.every || this.#running.has(key)) return;
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.write(folded))
      .then(() => undefined)
      .catch((error: unknown) => {
        this.#options.logger.warn(
          { [this.#options.folding.format.kind]: key, code: codeOf(error), err: error },
          'snapshot not written: the next load replays more events',
        );
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, running);
  }

  async write(folded: Folded<State>): Promise<SaveOutcome> {
    const { snapshots, clock, logger, folding } = this.#options;
    const { key, state } = folded;
    const { sequence } = state;
    const text = folding.encode(state, clock());
    const events = folded.sinceSnapshot;
    folded.sinceSnapshot = 0;
    const outcome = await snapshots.save(key, { sequence, text }).catch((error: unknown) => {
      folded.sinceSnapshot += events;
      this.counts.failed += 1;
      throw error;
    });
    if (outcome === 'saved') this.counts.written += 1;
    if (outcome === 'too_large') this.counts.failed += 1;
    const fields = { [folding.format.kind]: key, sequence, bytes: text.length, outcome };
    if (outcome === 'too_large')
      logger.warn({ ...fields, code: outcome }, 'snapshot not written: larger than the server accepts');
    else logger.debug?.(fields, 'snapshot written');
    return outcome;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
