import { LRUCache } from 'lru-cache';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import { type Held, retryDelay, SessionLane, type Trouble } from './session-lane.js';

/**
 * Shares an extractor between sessions, so that none keeps it from the others: which dispatch is worked on, which
 * waits for its turn in memory, and which is put back for a while before anything is done with it.
 *
 * - Sessions take turns, with up to eight dispatches each. A session may have as many in work as there are places free:
 *   alone it has half of them, two have a third each, and one that comes finds a place, even while all attempts of
 *   another one hang.
 * - Of one that publishes very much at once, what is not in work yet waits in memory, up to three quarters of the room
 *   for that, so that what others have published behind it is met soon. More than that is put back.
 * - A session whose log takes nothing is tried with one dispatch at a time, after growing pauses; all others of it are
 *   set aside. The first that succeeds ends it.
 *
 * Reads no clock but the one handed in, and starts nothing.
 */
interface LaneOptions {
  /** Dispatches in work at a time, of all sessions together. */
  readonly maxActive: number;
  /** Milliseconds since 1970; it must not go backwards. */
  readonly now: () => number;
  /** 0 to 1, for the jitter of pauses. */
  readonly random: () => number;
}

/**
 * Dispatches that a session has begun in one turn, if so many wait. Events that come for one stream together cost the
 * server a third less than events that come for many in turn.
 */
const MOST_IN_TURN = 8;
/** What is held at most, in work or waiting. */
const MAX_HELD = 32_000;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** One session holds at most this many times the rest: alone, three quarters. */
const SHARE = 3;
/** A session with this share of the waiting dispatches may hide others: more are asked for, to get past it. */
const FLOODING = 1 / 8;
/** Interval at which dispatches come back to a session in trouble, in milliseconds. */
const TROUBLED_EVERY_MS = 1;
/** Part of the time in which a dispatch is dealt with after which the next one comes back: rather too soon than too late. */
const SOONER = 0.8;
/** Time over which the speed is measured. */
const MEASURED_MS = 200;
/** Dispatches whose failures are remembered; one that is forgotten is tried longer. */
const MAX_REMEMBERED = 10_000;
/** Sessions in trouble that are remembered; one that is forgotten is in trouble again after three attempts. */
const MAX_LANES = 10_000;
/** Dispatches that are remembered as put back untouched; one that is forgotten costs a look into its log. */
const MAX_UNTOUCHED = 32_000;

export class SessionLanes {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, SessionLane>();
  /** Sessions whose dispatches wait, the one whose turn it is first. */
  readonly #turns = new Set<SessionLane>();
  readonly #failures = new LRUCache<number, number>({ max: MAX_REMEMBERED });
  /** How often a dispatch had been delivered when it was put back, each time before work on it began. */
  readonly #untouched = new LRUCache<number, number>({ max: MAX_UNTOUCHED });
  /** The session with the most that waits, as it was when last one came to wait. */
  #busiest: SessionLane | undefined;
  #active = 0;
  #waiting = 0;
  #bytes = 0;
  /** Milliseconds for each that is dealt with. */
  #everyMs = 1;
  #ended = 0;
  #measuredAt: number;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#measuredAt = options.now();
  }

  /** Dispatches held, in work or waiting. */
  get held(): number {
    return this.#active + this.#waiting;
  }

  /** Those that wait for their turn. */
  waiting(): readonly Held[] {
    return this.#waiting === 0 ? [] : [...this.#turns].flatMap((lane) => [...lane.waiting]);
  }

  /** Sessions with dispatches in work. */
  inWork(): string[] {
    return [...this.#lanes.values()].flatMap(({ session, active }) => (active > 0 ? [session] : []));
  }

  /** Whether more should be asked for. */
  hasRoom(): boolean {
    if (this.held < this.#options.maxActive) return true;
    return (this.#busiest?.waiting.length ?? 0) >= this.#waiting * FLOODING;
  }

  /** Takes a delivery in, to wait for its turn; or gives the milliseconds for which it must be put back. */
  arrived(session: string, delivery: DispatchDelivery): number | undefined {
    const lane = this.#lane(session);
    const now = this.#options.now();
    const isNew = this.#isNew(delivery);
    if (!lane.admits(now)) return this.#putBack(lane, { delivery, isNew }, now, TROUBLED_EVERY_MS);
    if (this.#isFull(lane)) return this.#putBack(lane, { delivery, isNew }, now, this.#everyMs * SOONER);
    lane.waiting.push({ session, delivery, isNew, round: 0 });
    lane.bytes += delivery.body.length;
    this.#bytes += delivery.body.length;
    this.#waiting += 1;
    this.#turns.add(lane);
    if (lane.waiting.length > (this.#busiest?.waiting.length ?? 0)) this.#busiest = lane;
    return undefined;
  }

  /** The next to be worked on, of the sessions in turn; `undefined` while none may be. */
  next(): Held | undefined {
    const free = this.#options.maxActive - this.#active;
    if (free <= 0) return undefined;
    for (const lane of this.#turns) {
      if (lane.active >= free) continue;
      const held = lane.waiting.shift();
      this.#took(lane);
      if (held === undefined) continue;
      held.round = lane.round;
      lane.active += 1;
      this.#active += 1;
      this.#waiting -= 1;
      return held;
    }
    return undefined;
  }

  /** It has been dealt with, and its log took an event. Gives the trouble that this ended. */
  took(held: Held): Trouble | undefined {
    const lane = this.#ends(held);
    const { trouble } = lane;
    lane.took();
    this.#failures.delete(held.delivery.sequence);
    this.#forgetIdle(lane);
    return trouble;
  }

  /** It has been dealt with, though its log took nothing: the next one may be tried at once. */
  gaveUp(held: Held): void {
    this.#ends(held).endPause();
    this.#failures.delete(held.delivery.sequence);
  }

  /**
   * It has failed.
   *
   * @returns milliseconds until it may be tried again, what else of its session must be put back, each for how long,
   * and the trouble that the session is in
   */
  failed(held: Held, error: unknown) {
    const { now, random } = this.#options;
    const lane = this.#ends(held);
    const failures = this.failures(held) + 1;
    this.#failures.set(held.delivery.sequence, failures);
    const pauseMs = lane.failed(held.round, error, now(), random());
    // One that fails among others that succeed waits longer each time, too.
    const delayMs = Math.max(pauseMs, retryDelay(failures, random()));
    const { trouble } = lane;
    return { delayMs, trouble, putBack: trouble === undefined ? [] : this.#letGo(lane) };
  }

  /** How often this dispatch has failed before, as far as is remembered. */
  failures({ delivery }: Held): number {
    return this.#failures.get(delivery.sequence) ?? 0;
  }

  /** How many times in a row the log of its session has refused an event. */
  refusals({ session }: Held): number {
    return this.#lane(session).refusals;
  }

  /** Releases all waiting dispatches, to be put back. */
  letGo(): readonly { readonly held: Held; readonly delayMs: number }[] {
    return [...this.#turns].flatMap((lane) => this.#letGo(lane));
  }

  /** Sessions whose dispatches are set aside, the one that has been for longest first, and how many these are. */
  setAside(): { readonly troubles: readonly Trouble[]; readonly dispatches: number } {
    const now = this.#options.now();
    const lanes = [...this.#lanes.values()].filter(({ trouble }) => trouble !== undefined);
    const troubles = lanes.flatMap(({ trouble }) => trouble ?? []).sort((one, two) => one.since - two.since);
    return { troubles, dispatches: lanes.reduce((sum, lane) => sum + lane.held + lane.away(now), 0) };
  }

  /** A session that has had its turn goes behind the others. */
  #took(lane: SessionLane): void {
    lane.inTurn += 1;
    if (lane.waiting.length > 0 && lane.inTurn < MOST_IN_TURN) return;
    lane.inTurn = 0;
    this.#turns.delete(lane);
    if (lane.waiting.length > 0) this.#turns.add(lane);
  }

  #isFull({ held, bytes }: SessionLane): boolean {
    if (held === 0) return false;
    return held >= (MAX_HELD - this.held) * SHARE || bytes >= (MAX_HELD_BYTES - this.#bytes) * SHARE;
  }

  #letGo(lane: SessionLane) {
    const now = this.#options.now();
    const waiting = [...lane.waiting];
    lane.waiting.clear();
    this.#turns.delete(lane);
    this.#waiting -= waiting.length;
    for (const { delivery } of waiting) this.#release(lane, delivery);
    return waiting.map((held) => ({ held, delayMs: this.#putBack(lane, held, now, TROUBLED_EVERY_MS) }));
  }

  #isNew({ sequence, delivery, isFirst }: DispatchDelivery): boolean {
    return isFirst || this.#untouched.get(sequence) === delivery - 1;
  }

  /** Milliseconds for which one is put back that nothing was done with. */
  #putBack(lane: SessionLane, held: Pick<Held, 'delivery' | 'isNew'>, now: number, everyMs: number): number {
    const { delivery, isNew } = held;
    if (isNew) this.#untouched.set(delivery.sequence, delivery.delivery);
    return lane.putBack(now, everyMs);
  }

  #ends({ session, delivery }: Held): SessionLane {
    const lane = this.#lane(session);
    lane.active -= 1;
    this.#active -= 1;
    this.#release(lane, delivery);
    this.#measure();
    return lane;
  }

  #release(lane: SessionLane, { body }: DispatchDelivery): void {
    lane.bytes -= body.length;
    this.#bytes -= body.length;
  }

  #measure(): void {
    this.#ended += 1;
    const now = this.#options.now();
    const passed = now - this.#measuredAt;
    if (passed < MEASURED_MS) return;
    // Not over a time in which there was nothing to do.
    if (passed < MEASURED_MS * 2) this.#everyMs = (this.#everyMs + passed / this.#ended) / 2;
    this.#ended = 0;
    this.#measuredAt = now;
  }

  #lane(session: string): SessionLane {
    const known = this.#lanes.get(session);
    if (known !== undefined) return known;
    const lane = new SessionLane(session);
    this.#lanes.set(session, lane);
    if (this.#lanes.size > MAX_LANES) {
      for (const idle of this.#lanes.values()) {
        if (idle.held > 0 || idle === lane) continue;
        this.#lanes.delete(idle.session);
        break;
      }
    }
    return lane;
  }

  #forgetIdle(lane: SessionLane): void {
    if (lane.held === 0) this.#lanes.delete(lane.session);
  }
}
