import type { Token } from '../../contracts/names.js';
import type { StoredEvent } from '../../contracts/session-events.js';
import type { ReadResult } from '../../ports/event-log.js';
import type { SessionLog } from '../../ports/session-log.js';
import type { SnapshotStore } from '../../ports/snapshot-store.js';
import { batched } from '../../runtime/batched.js';
import { type Checkpoint, carriedBy } from '../../session/checkpoint.js';
import { COUNTED_MEMORY, CountedDispatches, type CountedMemory } from '../../session/counted-dispatches.js';
import { WINDOW_LENGTH } from '../../session/dispatch-window.js';
import { decodeSnapshot } from '../../session/session-snapshot.js';

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
  /** Which of these count as rejected alone: an event that records one takes the place of that. */
  readonly rejected: ReadonlySet<number>;
  /** Highest dispatch that the fold has forgotten by then. */
  readonly floor: number;
  /** For each that was asked for, how many newer ones the fold remembers by then. */
  readonly newer: ReadonlyMap<number, number>;
}

/** Events read and folded in one turn of the event loop. */
const PAGE = 500;

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
      const rejected = new Set(dispatches.filter((dispatch) => at.rejected.has(dispatch)));
      const newer = new Map(dispatches.map((dispatch) => [dispatch, at.counted.newerThan(dispatch)]));
      return { through, counted, rejected, floor, newer };
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
      const { window } = carriedBy(event, sequence);
      at.counted = new CountedDispatches(window.counted, this.#memory);
      at.rejected = rejectedOf(window.recent);
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
        return { counted, rejected: rejectedOf(dispatches.recent()), sequence, epoch: undefined };
      }
      before = snapshot.sequence - 1;
    }
  }

  #first(): Place {
    const counted = new CountedDispatches(undefined, this.#memory);
    return { counted, rejected: new Set(), sequence: 0, epoch: undefined };
  }
}

interface Place {
  counted: CountedDispatches;
  /** Those that count as rejected, of the newest: older ones are settled. */
  rejected: Set<number>;
  sequence: number;
  epoch: string | undefined;
}

function count(
  { counted, rejected }: Place,
  { sequence, event }: StoredEvent,
  onCounted: (dispatch: number) => void,
): void {
  if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') return;
  const { dispatch } = event.data;
  if (event.type === 'fact.recorded') rejected.delete(dispatch.sequence);
  if (!counted.count(dispatch.sequence, sequence, dispatch.checked)) return;
  if (event.type === 'dispatch.rejected') {
    rejected.add(dispatch.sequence);
    const oldest = rejected.values().next();
    if (rejected.size > WINDOW_LENGTH && !oldest.done) rejected.delete(oldest.value);
  }
  onCounted(dispatch.sequence);
}

function rejectedOf(recent: readonly { readonly kind: string; readonly sequence: number }[]): Set<number> {
  return new Set(recent.flatMap(({ kind, sequence }) => (kind === 'rejected' ? [sequence] : [])));
}

function messagesOf({ events, skipped }: ReadResult<unknown>): number {
  return events.length + skipped;
}
