import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import type { Token } from '../../contracts/names.js';
import type { DispatchRejected, FactRecorded } from '../../contracts/session-events.js';
import type { DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { Appended, SessionLog } from '../../engine/ports/session-log.js';
import { COUNTED_MEMORY, type CountedMemory } from '../../memory/session/counted-dispatches.js';
import { CountedLog, type CountedLogPorts } from './counted-log.js';

/**
 * Appends the events of dispatches, so that each dispatch counts, however late it comes.
 *
 * The fold remembers which dispatches have counted, but for the oldest. An event of one that it has forgotten counts only
 * with a proof that no event before has. That is rare, and costs reading the log. Nearly always it is plain that the fold
 * cannot have forgotten a dispatch: when its log is short, or when few events have been stored since a moment when the
 * dispatch itself was not stored yet. Then its event is appended, and that is all.
 *
 * A dispatch that was in work before may have an event already: its log is looked through first. So no event needs a
 * message id, which costs the server a tenth of a publish or more, and none is stored again however late it comes.
 */
export type DispatchEvent = FactRecorded | DispatchRejected;
type Counts = DispatchEvent['type'];

export interface LateGuardPorts extends CountedLogPorts {
  readonly log: Pick<SessionLog, 'append' | 'read'>;
  readonly source: Pick<DispatchSource, 'newest'>;
}

/** How far a log had come when no dispatch above `newest` was stored yet. */
interface Mark {
  readonly newest: number;
  readonly sequence: number;
}

interface LongSession {
  /** Newest last. */
  marks: Mark[];
  /** Highest sequence that an append has come to. */
  reached: number;
}

interface LateGuardOptions {
  /** What the fold remembers. */
  readonly memory?: CountedMemory;
  /** Shortest time between two questions for the newest dispatch, in milliseconds. Default: 200. */
  readonly askMs?: number;
}

const TOGETHER = { together: true };
const MAX_LONG = 10_000;
/** Sessions whose searched logs are remembered: up to some 100 KB each. */
const MAX_LOOKED = 100;
const MAX_MARKS = 64;
/** Only other writers that keep overtaking it make a proof out of date. */
const MAX_PROOFS = 10;

export class LateGuard {
  readonly #ports: LateGuardPorts;
  readonly #memory: CountedMemory;
  readonly #askMs: number;
  /** Sessions whose logs are so long that the fold may have forgotten something, or soon may. */
  readonly #long = new LRUCache<Token, LongSession>({ max: MAX_LONG });
  readonly #looked = new LRUCache<Token, CountedLog>({ max: MAX_LOOKED });
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
   * @param again makes the same event once more: while an append is under way it is not kept
   * @returns by which kind of event it counts, as far as that is known
   * @param isNew whether no worker can have appended an event of it before
   * @throws ThroughlineError `unavailable` when the log cannot be reached
   */
  record(session: Token, event: DispatchEvent, again: () => DispatchEvent, isNew: boolean): Promise<Counts> {
    const { type, data } = event;
    const { sequence: dispatch } = data.dispatch;
    if (!isNew || dispatch <= (this.#looked.peek(session)?.floor ?? 0)) {
      return this.#recordLate(session, type, dispatch, again);
    }
    return this.#ports.log.append(session, event, TOGETHER).then((appended) => {
      const sequence = sequenceOf(appended);
      const { surely } = this.#memory;
      if (sequence <= surely / 2) return type;
      const long = this.#long.get(session) ?? { marks: [], reached: 0 };
      this.#long.set(session, long);
      // Of so short a log nothing is forgotten.
      const isSure = sequence <= surely || this.#isSure(long, dispatch, sequence);
      this.#reached(long, sequence);
      return isSure ? type : this.#recordLate(session, type, dispatch, again);
    });
  }

  /** Looks a dispatch up, and appends its event, with the proof where it needs one, until it counts. */
  async #recordLate(
    session: Token,
    type: DispatchEvent['type'],
    dispatch: number,
    again: () => DispatchEvent,
  ): Promise<Counts> {
    const counted = this.#looked.get(session) ?? new CountedLog(this.#ports, session, this.#memory);
    this.#looked.set(session, counted);
    for (let proof = 0; proof < MAX_PROOFS; proof += 1) {
      const looked = await counted.look(dispatch);
      // One that was given up and can be recorded after all counts as recorded.
      const isReplaced = type === 'fact.recorded' && looked.replaceable.has(dispatch);
      if (looked.counted.has(dispatch) && !isReplaced)
        return looked.recorded.has(dispatch) ? 'fact.recorded' : type;
      const isForgotten = dispatch <= looked.floor;
      const event = isForgotten ? proven(again(), looked.through) : again();
      const sequence = sequenceOf(await this.#ports.log.append(session, event));
      // Each event since that look may be of a newer dispatch, and the fold forgets the oldest first.
      const newer = (looked.newer.get(dispatch) ?? 0) + sequence - looked.through;
      if (!isForgotten && newer <= this.#memory.surely) return type;
    }
    throw new ThroughlineError(
      'unavailable',
      `dispatch ${dispatch} keeps being overtaken by other late ones`,
    );
  }

  /** Whether too few events were stored since the dispatch was for the fold to have forgotten it. */
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
    // What is in these logs by now was stored as a dispatch before.
    // Sequences of events that were stored together may be said too high: the mark is set as much lower.
    const slack = Math.ceil(this.#memory.surely / 8);
    const reached = [...this.#long.values()].map((each) => ({ each, sequence: each.reached - slack }));
    this.#ports.source
      .newest()
      .then(
        (newest) => {
          for (const { each, sequence: at } of reached) this.#mark(each, { newest, sequence: at });
        },
        // Then more is looked up, until it can be asked again.
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

/** The same event with the proof that nothing counted through a sequence. */
function proven(event: DispatchEvent, checked: number): DispatchEvent {
  return event.type === 'fact.recorded'
    ? { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } }
    : { ...event, data: { ...event.data, dispatch: { ...event.data.dispatch, checked } } };
}
