import { KEPT } from '../../contracts/kept.js';
import type { Token } from '../../contracts/names.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import type { ReadResult, SessionLog, SnapshotStore } from '../../engine/ports/session-log.js';
import { batched } from '../../engine/runtime/batched.js';
import { type Checkpoint, carriedBy } from '../../memory/session/checkpoint.js';
import {
  COUNTED_MEMORY,
  CountedDispatches,
  type CountedMemory,
  WINDOW_LENGTH,
} from '../../memory/session/dispatch-window.js';
import { decodeSnapshot } from '../../memory/session/session-snapshot.js';

export interface CountedLogPorts {
  readonly log: Pick<SessionLog, 'read'>;
  readonly snapshots?: Pick<SnapshotStore, 'loadAtOrBefore'>;
}

/** The state of dispatches according to a session's log. */
export interface Looked {
  /** The log was searched through this sequence. */
  readonly through: number;
  readonly counted: ReadonlySet<number>;
  /** Counted ones that are recorded, and not rejected. */
  readonly recorded: ReadonlySet<number>;
  /** Ones that count as rejected, which a recording event can still replace. */
  readonly replaceable: ReadonlySet<number>;
  /** Highest dispatch that the fold has forgotten. */
  readonly floor: number;
  /** Number of newer dispatches that the fold remembers, by dispatch. */
  readonly newer: ReadonlyMap<number, number>;
}

/** Events read and folded per turn of the event loop. */
const PAGE = 500;
/** Remembered rejections per session. */
const MOST_REJECTIONS = 1000;

/**
 * Answers which dispatches of a session have counted, by the rule of the fold alone. Remembered dispatches are answered from
 * memory. For forgotten ones the log is read again, once for all of them, from the newest snapshot that still remembers them.
 */
export class CountedLog {
  readonly #ports: CountedLogPorts;
  readonly #session: Token;
  readonly #memory: CountedMemory;
  #at: Place | undefined;
  /** Looks up dispatches in everything stored before the call. */
  readonly look: (dispatch: number) => Promise<Looked>;

  constructor(ports: CountedLogPorts, session: Token, memory: CountedMemory = COUNTED_MEMORY) {
    this.#ports = ports;
    this.#session = session;
    this.#memory = memory;
    this.look = batched((dispatches) => this.#look(dispatches));
  }

  /** Highest dispatch that the fold is known to have forgotten. */
  get floor(): number {
    return this.#at?.counted.floor ?? 0;
  }

  async #look(dispatches: readonly number[]): Promise<Looked> {
    for (;;) {
      const at = await this.#refreshed();
      const { sequence: through } = at;
      const { floor } = at.counted;
      const counted = new Set(dispatches.filter((dispatch) => at.counted.has(dispatch)));
      const forgotten = dispatches.filter((dispatch) => dispatch <= floor && !counted.has(dispatch));
      // If the log was replaced meanwhile, the search must start over.
      if (forgotten.length > 0 && !(await this.#search(new Set(forgotten), at, counted))) continue;
      const remembered = dispatches.filter((dispatch) => dispatch > floor && counted.has(dispatch));
      const recorded = new Set(remembered.filter((dispatch) => at.rejections.isRecorded(dispatch)));
      const unsure = [...counted].filter((each) => !recorded.has(each) && !at.rejections.has(each));
      if (unsure.length > 0) await this.#findRecorded(new Set(unsure), through, recorded);
      const replaceable = new Set(dispatches.filter((dispatch) => isReplaceable(at, dispatch)));
      const newer = new Map(dispatches.map((dispatch) => [dispatch, at.counted.newerThan(dispatch)]));
      return { through, counted, recorded, replaceable, floor, newer };
    }
  }

  async #refreshed(): Promise<Place> {
    for (let others = 0; ; others += 1) {
      // The memory and the newest snapshots may belong to a replaced log.
      const snapshot = async () => (others < 2 ? this.#begin(Number.MAX_SAFE_INTEGER) : undefined);
      const at = this.#at ?? (await snapshot()) ?? this.#first();
      this.#at = undefined;
      if (await this.#walk(at, Number.MAX_SAFE_INTEGER)) {
        this.#at = at;
        return at;
      }
    }
  }

  /** Adds the wanted dispatches that counted up to a place; `false` if the log was replaced. */
  async #search(
    wanted: ReadonlySet<number>,
    { sequence: through, epoch }: Place,
    found: Set<number>,
  ): Promise<boolean> {
    const lowest = Math.min(...wanted);
    let at = await this.#begin(through);
    while (at !== undefined && at.counted.floor >= lowest) at = await this.#begin(at.sequence - 1);
    at ??= this.#first();
    for (const dispatch of wanted) if (at.counted.has(dispatch)) found.add(dispatch);
    const take = (dispatch: number) => wanted.has(dispatch) && found.add(dispatch);
    // A checkpoint may have forgotten a dispatch for good: losing it is better than counting it twice.
    const past = (counted: CountedDispatches) => {
      for (const dispatch of wanted)
        if (dispatch <= counted.floor || counted.has(dispatch)) found.add(dispatch);
    };
    for (const begin of [at, this.#first()])
      if (await this.#walk({ ...begin, epoch }, through, take, past)) return true;
    return false;
  }

  /** Adds the wanted dispatches that have a recording event. */
  async #findRecorded(wanted: ReadonlySet<number>, through: number, found: Set<number>): Promise<void> {
    for (let [after, read] = [0, PAGE]; read === PAGE && after < through; ) {
      const page = await this.#ports.log.read(this.#session, { after, through, limit: PAGE });
      for (const { event } of page.events)
        if (event.type === 'fact.recorded' && wanted.has(event.data.dispatch.sequence))
          found.add(event.data.dispatch.sequence);
      after = page.through;
      read = messagesOf(page);
    }
  }

  /** Folds the log through a sequence; `false` if the log was replaced. */
  async #walk(
    at: Place,
    through: number,
    onCounted: (dispatch: number) => void = () => {},
    onCheckpoint: (counted: CountedDispatches) => void = () => {},
  ): Promise<boolean> {
    for (let read = PAGE; read === PAGE && at.sequence < through; ) {
      const page = await this.#ports.log.read(this.#session, { after: at.sequence, through, limit: PAGE });
      if (at.epoch !== undefined && page.epoch !== at.epoch) return false;
      at.epoch = page.epoch;
      for (const stored of page.events) {
        const { event, sequence } = stored;
        if (event.type !== 'session.checkpoint') count(at, stored, onCounted);
        else if (this.#takeCheckpoint(at, event, sequence)) onCheckpoint(at.counted);
        at.sequence = sequence;
      }
      at.sequence = Math.max(at.sequence, page.through);
      read = messagesOf(page);
    }
    return true;
  }

  /** Like the fold, ignores an unreadable checkpoint unless it is the first event. */
  #takeCheckpoint(at: Place, event: Checkpoint, sequence: number): boolean {
    try {
      const { window, rejections } = carriedBy(event, sequence);
      at.counted = new CountedDispatches(window.counted, this.#memory);
      at.rejections = new Rejections(rejections, window.recent);
      return true;
    } catch (error) {
      if (at.sequence === 0) throw error;
      return false;
    }
  }

  /** Returns the newest usable snapshot at or before a sequence. */
  async #begin(sequence: number): Promise<Place | undefined> {
    for (let before = sequence; ; ) {
      const snapshot = await this.#ports.snapshots?.loadAtOrBefore(this.#session, before);
      if (snapshot === undefined) return undefined;
      const decoded = decodeSnapshot(this.#session, snapshot.text);
      if (decoded.ok) {
        const { dispatches, sequence } = decoded.state;
        const counted = new CountedDispatches(dispatches.counted().toJSON(), this.#memory);
        const rejections = new Rejections(dispatches.settled().rejections, dispatches.recent());
        return { counted, rejections, sequence, epoch: undefined };
      }
      before = snapshot.sequence - 1;
    }
  }

  #first(): Place {
    const counted = new CountedDispatches(undefined, this.#memory);
    return { counted, rejections: new Rejections([], []), sequence: 0, epoch: undefined };
  }
}

interface Place {
  counted: CountedDispatches;
  rejections: Rejections;
  sequence: number;
  epoch: string | undefined;
}

/** The newest dispatches that count as rejected, as the fold remembers them. */
class Rejections {
  readonly #known: number[];
  /** A dispatch at or below this one may be a forgotten rejection. */
  #floor: number;

  constructor(
    settled: readonly { readonly sequence: number }[],
    recent: readonly { readonly kind: string; readonly sequence: number }[],
  ) {
    this.#known = settled.map(({ sequence }) => sequence);
    this.#floor = settled.length < KEPT.rejection.list ? 0 : (this.#known[0] ?? 0);
    for (const { kind, sequence } of recent) if (kind === 'rejected') this.add(sequence);
  }

  has(dispatch: number): boolean {
    return this.#known.includes(dispatch);
  }

  /** Returns true if a counted dispatch is certainly not a rejection. */
  isRecorded(dispatch: number): boolean {
    return dispatch > this.#floor && !this.has(dispatch);
  }

  add(dispatch: number): void {
    this.#known.splice(this.#known.findLastIndex((each) => each < dispatch) + 1, 0, dispatch);
    if (this.#known.length > MOST_REJECTIONS) this.#floor = this.#known.shift() ?? this.#floor;
  }

  remove(dispatch: number): void {
    const at = this.#known.indexOf(dispatch);
    if (at >= 0) this.#known.splice(at, 1);
  }
}

/** Returns true for a rejection in the fold's window: a settled one stays as it is. */
function isReplaceable({ counted, rejections }: Place, dispatch: number): boolean {
  return rejections.has(dispatch) && counted.newerThan(dispatch) < WINDOW_LENGTH;
}

function count(at: Place, { sequence, event }: StoredEvent, onCounted: (dispatch: number) => void): void {
  if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') return;
  const { dispatch } = event.data;
  if (event.type === 'fact.recorded' && isReplaceable(at, dispatch.sequence))
    at.rejections.remove(dispatch.sequence);
  if (!at.counted.count(dispatch.sequence, sequence, dispatch.checked)) return;
  if (event.type === 'dispatch.rejected') at.rejections.add(dispatch.sequence);
  onCounted(dispatch.sequence);
}

function messagesOf({ events, skipped }: ReadResult<unknown>): number {
  return events.length + skipped;
}
