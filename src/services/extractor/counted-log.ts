import { KEPT } from '../../contracts/kept.js';
import type { Token } from '../../contracts/names.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import type { ReadResult, SessionLog } from '../../engine/ports/session-log.js';
import type { SnapshotStore } from '../../engine/ports/snapshot-store.js';
import { batched } from '../../engine/runtime/batched.js';
import { type Checkpoint, carriedBy } from '../../memory/session/checkpoint.js';
import {
  COUNTED_MEMORY,
  CountedDispatches,
  type CountedMemory,
} from '../../memory/session/counted-dispatches.js';
import { WINDOW_LENGTH } from '../../memory/session/dispatch-window.js';
import { decodeSnapshot } from '../../memory/session/session-snapshot.js';

export interface CountedLogPorts {
  readonly log: Pick<SessionLog, 'read'>;
  readonly snapshots?: Pick<SnapshotStore, 'loadAtOrBefore'>;
}

/** What a session's log says about dispatches. */
export interface Looked {
  /** Sequence up to which the log was looked through. */
  readonly through: number;
  /** Which of the dispatches that were asked for have counted. */
  readonly counted: ReadonlySet<number>;
  /** Those of them that are known to count as recorded. */
  readonly recorded: ReadonlySet<number>;
  /** Those of them that count as rejected, and that an event which records one still replaces. */
  readonly replaceable: ReadonlySet<number>;
  /** Highest dispatch that the fold has forgotten by then. */
  readonly floor: number;
  /** For each that was asked for, how many newer ones the fold remembers by then. */
  readonly newer: ReadonlyMap<number, number>;
}

/** Events read and folded in one turn of the event loop. */
const PAGE = 500;
/** Rejections that are told from recorded results, of each session that is looked through. */
const MOST_REJECTIONS = 1000;

/**
 * Which dispatches of one session have counted, by its log: the rule of the fold, and nothing else of it.
 *
 * Remembered dispatches are answered at once. For what is forgotten, the log is read once more, from where it was not
 * forgotten yet, however many are asked for.
 */
export class CountedLog {
  readonly #ports: CountedLogPorts;
  readonly #session: Token;
  readonly #memory: CountedMemory;
  #at: Place | undefined;
  /** Looks up dispatches in everything that was stored when this is called. */
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
      // Where another log has taken the place of that one meanwhile, this one says nothing of it.
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

  /** What has counted by the end of the log. */
  async #refreshed(): Promise<Place> {
    for (let others = 0; ; others += 1) {
      // What was known may be of a log that this one took the place of, and the newest snapshot as well.
      const snapshot = async () => (others < 2 ? this.#begin(Number.MAX_SAFE_INTEGER) : undefined);
      const at = this.#at ?? (await snapshot()) ?? this.#first();
      this.#at = undefined;
      if (await this.#walk(at, Number.MAX_SAFE_INTEGER)) {
        this.#at = at;
        return at;
      }
    }
  }

  /** Adds those of the wanted dispatches that counted by an event up to a place; `false` when the log is another one by now. */
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
    // What a checkpoint had forgotten can no longer be looked up: twice would be worse than not at all.
    const past = (counted: CountedDispatches) => {
      for (const dispatch of wanted)
        if (dispatch <= counted.floor || counted.has(dispatch)) found.add(dispatch);
    };
    for (const begin of [at, this.#first()])
      if (await this.#walk({ ...begin, epoch }, through, take, past)) return true;
    return false;
  }

  /** Adds those of the wanted dispatches that the log holds a recorded result of. */
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

  /** Goes through the log; `false` when it turns out to be another one than before. */
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

  /** As in the fold, one that cannot be read changes nothing where something came before it. */
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

  /** The newest usable snapshot at or before a sequence. */
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

/** Dispatches whose events are known to be rejections: the newest, as the fold remembers them. */
class Rejections {
  readonly #known: number[];
  /** At or below this one a dispatch may be a rejection that was forgotten. */
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

  /** True if a dispatch that has counted is surely not one of them. */
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

/** True if it is a rejection in the fold's window: a settled one stays as it is. */
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
