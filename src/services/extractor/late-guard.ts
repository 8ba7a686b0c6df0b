import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { DispatchRejected, FactRecorded } from '../../contracts/session-events.js';
import type { DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { Appended, SessionLog } from '../../engine/ports/session-log.js';
import { COUNTED_MEMORY, type CountedMemory } from '../../memory/session/dispatch-window.js';
import { CountedLog, type CountedLogPorts } from './counted-log.js';

/**
 * Appends the events of dispatches so that each dispatch counts exactly once, however late it arrives.
 *
 * The fold remembers which dispatches have counted, except for the oldest. An event of a forgotten one counts only with a proof
 * that no earlier event exists, which costs reading the log. Usually that is unnecessary: the log is short, or few events were
 * stored since a moment when the dispatch was not stored yet. Then the event is simply appended.
 *
 * A redelivered dispatch may have an event already, so its log is searched first. Events therefore need no message id, which
 * would cost the server at least a tenth of each publish.
 */
export type DispatchEvent = FactRecorded | DispatchRejected;
type Counts = DispatchEvent['type'];

export interface LateGuardPorts extends CountedLogPorts {
  readonly log: Pick<SessionLog, 'append' | 'read'>;
  readonly source: Pick<DispatchSource, 'newest'>;
}

/** High-water marks: no dispatch above `newest` was stored when the log had reached `sequence`. */
interface Mark {
  readonly newest: number;
  readonly sequence: number;
}

interface LongSession {
  /** Newest last. */
  marks: Mark[];
  reached: number;
}

interface LateGuardOptions {
  readonly memory?: CountedMemory;
  /** Minimum interval between requests for the newest dispatch, in milliseconds. Default: 200. */
  readonly askMs?: number;
}

const MAX_LONG = 10_000;
const MAX_SEARCHED = 100;
const MAX_MARKS = 64;
/** A proof becomes stale only if other writers keep overtaking it. */
const MAX_PROOFS = 10;

export class LateGuard {
  readonly #ports: LateGuardPorts;
  readonly #memory: CountedMemory;
  readonly #askMs: number;
  /** Sessions with logs so long that the fold forgets, or soon will. */
  readonly #long = new LRUCache<Token, LongSession>({ max: MAX_LONG });
  readonly #searched = new LRUCache<Token, CountedLog>({ max: MAX_SEARCHED });
  /** Dispatches whose events are being appended. */
  readonly #appending = new Map<number, Promise<Counts>>();
  #asked = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(ports: LateGuardPorts, { memory = COUNTED_MEMORY, askMs = 200 }: LateGuardOptions = {}) {
    this.#ports = ports;
    this.#memory = memory;
    this.#askMs = askMs;
  }

  /**
   * Appends the event of a dispatch; resolves when the dispatch counts, by this event or another one.
   *
   * @param again rebuilds the event, so that it is not held during the append
   * @param isNew true if no worker can have appended its event before
   * @returns the type of the event by which it counts, if known
   * @throws ThroughlineError `unavailable` if the log cannot be reached
   */
  record(session: Token, event: DispatchEvent, again: () => DispatchEvent, isNew: boolean): Promise<Counts> {
    const { type, data } = event;
    const { sequence: dispatch } = data.dispatch;
    const late = () => this.#recordLate(session, type, dispatch, again);
    // Delivered again during its append, on a busy machine: the log does not show that event yet.
    const before = this.#appending.get(dispatch);
    const counts = before?.then(late, late) ?? (isNew ? this.#recordNew(session, event, late) : late());
    this.#appending.set(dispatch, counts);
    const end = () => {
      if (this.#appending.get(dispatch) === counts) this.#appending.delete(dispatch);
    };
    counts.then(end, end);
    return counts;
  }

  #recordNew(session: Token, event: DispatchEvent, late: () => Promise<Counts>): Promise<Counts> {
    const { type, data } = event;
    const { sequence: dispatch } = data.dispatch;
    if (dispatch <= (this.#searched.peek(session)?.floor ?? 0)) return late();
    return this.#ports.log.append(session, event).then((appended) => {
      const sequence = sequenceOf(appended);
      const { surely } = this.#memory;
      if (sequence <= surely / 2) return type;
      const long = this.#long.get(session) ?? { marks: [], reached: 0 };
      this.#long.set(session, long);
      // The fold forgets nothing of so short a log.
      const isSure = sequence <= surely || this.#isSure(long, dispatch, sequence);
      this.#reached(long, sequence);
      return isSure ? type : late();
    });
  }

  /** Searches for a dispatch and appends its event, with a proof if needed, until it counts. */
  async #recordLate(
    session: Token,
    type: DispatchEvent['type'],
    dispatch: number,
    again: () => DispatchEvent,
  ): Promise<Counts> {
    const counted = this.#searched.get(session) ?? new CountedLog(this.#ports, session, this.#memory);
    this.#searched.set(session, counted);
    for (let proof = 0; proof < MAX_PROOFS; proof += 1) {
      const looked = await counted.look(dispatch);
      // A rejected dispatch that can be recorded after all counts as recorded.
      const isReplaced = type === 'fact.recorded' && looked.replaceable.has(dispatch);
      if (looked.counted.has(dispatch) && !isReplaced)
        return looked.recorded.has(dispatch) ? 'fact.recorded' : type;
      const isForgotten = dispatch <= looked.floor;
      const event = isForgotten ? proven(again(), looked.through) : again();
      const sequence = sequenceOf(await this.#ports.log.append(session, event));
      // Each event since then may belong to a newer dispatch, and the fold forgets the oldest first.
      const newer = (looked.newer.get(dispatch) ?? 0) + sequence - looked.through;
      if (!isForgotten && newer <= this.#memory.surely) return type;
    }
    throw new ThroughlineError(
      'unavailable',
      `dispatch ${dispatch} keeps being overtaken by other late ones`,
    );
  }

  /** Returns true if too few events were stored since the dispatch for the fold to have forgotten it. */
  #isSure({ marks }: LongSession, dispatch: number, sequence: number): boolean {
    const before = marks.findLast(({ newest }) => newest < dispatch);
    return before !== undefined && sequence - before.sequence <= this.#memory.surely;
  }

  #reached(session: LongSession, sequence: number): void {
    session.reached = Math.max(session.reached, sequence);
    const now = performance.now();
    if (this.#isAsking || now - this.#asked < this.#askMs) return;
    this.#asked = now;
    this.#isAsking = true;
    // Every event in these logs belongs to a dispatch at or below `newest`.
    const reached = [...this.#long.values()].map((each) => ({ each, sequence: each.reached }));
    this.#ports.source
      .newest()
      .then(
        (newest) => {
          for (const { each, sequence: at } of reached) this.#mark(each, { newest, sequence: at });
        },
        // Without a mark, more dispatches are searched for until the next answer.
        () => {},
      )
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #mark(session: LongSession, mark: Mark): void {
    const last = session.marks.at(-1);
    if (last !== undefined && mark.sequence - last.sequence < this.#memory.surely / MAX_MARKS) return;
    session.marks = [...session.marks, mark].slice(-MAX_MARKS);
  }
}

function sequenceOf(appended: Appended): number {
  return appended.outcome === 'appended' ? appended.sequence : 0;
}

/** Adds the proof that no event through a sequence counted. */
function proven(event: DispatchEvent, checked: number): DispatchEvent {
  return event.type === 'fact.recorded'
    ? { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } }
    : { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } };
}
