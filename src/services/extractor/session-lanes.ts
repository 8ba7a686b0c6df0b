import { LRUCache } from 'lru-cache';
import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf } from '../../contracts/errors.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import { type BackoffLimits, backoffMs } from '../../shared/deadlines.js';
import { clipText, oneLine } from '../../shared/text.js';

export interface Job {
  readonly session: string;
  readonly delivery: DispatchDelivery;
  /** The lane's round in which its attempt started. */
  round: number;
}

export interface OpenCircuit {
  readonly session: string;
  readonly code: ErrorCode;
  /** The last error of its log, with a fix if one is known. */
  readonly reason: string;
  /** Time of the first failed attempt, ISO 8601 in UTC. */
  readonly since: string;
}

/** After this many consecutive failures the log is at fault and not a dispatch. */
const IN_A_ROW = 3;
/** Redeliveries are grouped, because the server scans all pending messages for each due time. */
const GROUP_MS = 100;
const MAX_REASON = 300;

/** Permanent refusals; after an outage, in contrast, a log accepts what it refused. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['store_full', 'config_invalid', 'too_large', 'internal']);

/** Returns true if the log was reached and refused the event. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(codeOf(error));
}

/** One session's queue and circuit breaker: dispatches held, dispatches put back, and the health of its log. */
export class SessionLane {
  readonly session: string;
  waiting: Job[] = [];
  active = 0;
  /** Started in the current round-robin turn. */
  inTurn = 0;
  bytes = 0;
  round = 0;
  #pausedUntil = 0;
  #failures = 0;
  #pauses = 0;
  #refusals = 0;
  #last: OpenCircuit | undefined;
  #lastReturn = 0;
  readonly #putBackUntil = new Map<number, number>();

  constructor(session: string) {
    this.session = session;
  }

  get size(): number {
    return this.active + this.waiting.length;
  }

  get openCircuit(): OpenCircuit | undefined {
    return this.#failures < IN_A_ROW ? undefined : this.#last;
  }

  /** Consecutive refusals by its log, each followed by a pause. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Returns true if a dispatch may be tried. While the breaker is open: one at a time, after the pause (half-open). */
  admits(now: number): boolean {
    return this.openCircuit === undefined || (this.size === 0 && now >= this.#pausedUntil);
  }

  closeCircuit(): void {
    this.#failures = this.#pauses = this.#refusals = this.#pausedUntil = 0;
    this.#last = undefined;
    this.#putBackUntil.clear();
  }

  /**
   * Records a failed attempt of a round, and returns the milliseconds until the next one. Attempts that started before the last
   * pause do not extend the next one.
   */
  failed(begun: number, error: unknown, now: number, random: number): number {
    this.#failures += 1;
    const reason = clipText(oneLine(messageOf(error)), MAX_REASON);
    const since = this.#last?.since ?? new Date(now).toISOString();
    this.#last = { session: this.session, code: codeOf(error), reason, since };
    if (begun === this.round) {
      this.round += 1;
      this.#pauses += 1;
      this.#refusals = isRefusal(error) ? this.#refusals + 1 : 0;
      this.#pausedUntil = now + retryDelay(this.#pauses, random);
    }
    this.#countPutBack(this.#pausedUntil);
    return Math.max(0, this.#pausedUntil - now);
  }

  endPause(): void {
    this.#pausedUntil = 0;
  }

  /** Returns the delay in milliseconds for one more put-back: returns are `everyMs` apart, and not before the pause ends. */
  putBack(now: number, everyMs: number): number {
    this.#lastReturn = Math.max(this.#lastReturn + everyMs, this.#pausedUntil, now + everyMs);
    const at = Math.ceil(this.#lastReturn / GROUP_MS) * GROUP_MS;
    this.#countPutBack(at);
    return at - now;
  }

  stillPutBack(now: number): number {
    let count = 0;
    for (const [at, many] of this.#putBackUntil) {
      if (at <= now) this.#putBackUntil.delete(at);
      else count += many;
    }
    return count;
  }

  #countPutBack(until: number): void {
    this.#putBackUntil.set(until, (this.#putBackUntil.get(until) ?? 0) + 1);
  }
}

/** The part of an extractor's health about sessions whose logs reject writes. */
export interface SetAside {
  readonly sessions: number;
  /** Approximate number of their dispatches that this extractor has seen. */
  readonly dispatches: number;
  readonly worst: readonly OpenCircuit[];
}

export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly reason: string };

const RETRIES: BackoffLimits = { firstMs: 250, longestMs: 30_000 };

/** Returns the redelivery delay in milliseconds: exponential, up to 30 s. @param random 0 to 1 */
export function retryDelay(delivery: number, random: number): number {
  return backoffMs(RETRIES, delivery, random);
}

/**
 * Schedules the dispatches of an extractor fairly between sessions: which is processed, which waits in memory, and which is
 * put back untouched.
 *
 * - Weighted round robin: up to eight dispatches per turn. A session may use as many slots as are free: one alone gets half,
 *   two get a third each, so a new session finds a slot even while all attempts of another one hang.
 * - A session that publishes a burst is queued in memory, up to 75 % of the buffer; the rest is nak'ed with a delay.
 * - Circuit breaker: when a session's log rejects writes, one dispatch at a time is retried with exponential backoff, and its
 *   other dispatches are set aside. The first success closes the breaker.
 *
 * Pure state machine: it starts nothing and reads only the given clock.
 */
interface LaneOptions {
  readonly maxActive: number;
  /** Milliseconds since 1970, monotonic. */
  readonly now: () => number;
  readonly random: () => number;
}

/** Dispatches per turn: events published together to one stream cost the server a third less than interleaved ones. */
const MOST_IN_TURN = 8;
/** Limits of dispatches held, in progress or waiting. */
const MAX_HELD = 32_000;
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** One session holds at most this many times the remaining capacity: alone, three quarters of all. */
const SHARE = 3;
/** A session with this share of the queue may hide others: fetch more to get past it. */
const FLOODING = 1 / 8;
/** Spacing of returns to a session with an open breaker, in milliseconds. */
const TROUBLED_EVERY_MS = 1;
/** Fraction of the measured processing time after which the next one returns: rather too early than too late. */
const SOONER = 0.8;
const MEASURED_MS = 200;
/** Dispatches whose failures are remembered; an evicted one is retried longer. */
const MAX_REMEMBERED = 10_000;
/** Remembered lanes; the breaker of an evicted one opens again after three attempts. */
const MAX_LANES = 10_000;
const MAX_LISTED = 10;

export class SessionLanes {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, SessionLane>();
  /** Sessions with waiting dispatches, in round-robin order. */
  readonly #turns = new Set<SessionLane>();
  readonly #failures = new LRUCache<number, number>({ max: MAX_REMEMBERED });
  /** The session with the longest queue, as of the last arrival. */
  #busiest: SessionLane | undefined;
  #active = 0;
  #waiting = 0;
  #bytes = 0;
  /** Measured processing time per dispatch, in milliseconds. */
  #everyMs = 1;
  #ended = 0;
  #measuredAt: number;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#measuredAt = options.now();
  }

  get size(): number {
    return this.#active + this.#waiting;
  }

  waiting(): readonly Job[] {
    return this.#waiting === 0 ? [] : [...this.#turns].flatMap((lane) => lane.waiting);
  }

  inWork(): string[] {
    return [...this.#lanes.values()].flatMap(({ session, active }) => (active > 0 ? [session] : []));
  }

  /** Backpressure: true if the worker has capacity to fetch more messages. */
  hasCapacity(): boolean {
    if (this.size < this.#options.maxActive) return true;
    return (this.#busiest?.waiting.length ?? 0) >= this.#waiting * FLOODING;
  }

  /** Enqueues a delivery, or returns the delay in milliseconds with which it must be put back. */
  arrived(session: string, delivery: DispatchDelivery): number | undefined {
    const lane = this.#lane(session);
    const now = this.#options.now();
    if (!lane.admits(now)) return lane.putBack(now, TROUBLED_EVERY_MS);
    if (this.#isFull(lane)) return lane.putBack(now, this.#everyMs * SOONER);
    lane.waiting.push({ session, delivery, round: 0 });
    lane.bytes += delivery.body.length;
    this.#bytes += delivery.body.length;
    this.#waiting += 1;
    this.#turns.add(lane);
    if (lane.waiting.length > (this.#busiest?.waiting.length ?? 0)) this.#busiest = lane;
    return undefined;
  }

  /** Returns the next dispatch to process; `undefined` if none may start. */
  next(): Job | undefined {
    const free = this.#options.maxActive - this.#active;
    if (free <= 0) return undefined;
    for (const lane of this.#turns) {
      if (lane.active >= free) continue;
      const job = lane.waiting.shift();
      this.#started(lane);
      if (job === undefined) continue;
      job.round = lane.round;
      lane.active += 1;
      this.#active += 1;
      this.#waiting -= 1;
      return job;
    }
    return undefined;
  }

  /** Settles a success. Returns the open circuit that it closed. */
  succeeded(job: Job): OpenCircuit | undefined {
    const lane = this.#settle(job);
    const { openCircuit } = lane;
    lane.closeCircuit();
    this.#failures.delete(job.delivery.sequence);
    if (lane.size === 0) this.#lanes.delete(lane.session);
    return openCircuit;
  }

  /** Settles a dispatch that was rejected although its log accepted nothing: the next one may start immediately. */
  rejected(job: Job): void {
    this.#settle(job).endPause();
    this.#failures.delete(job.delivery.sequence);
  }

  /** Settles a failure: returns the redelivery delay (ms), its session's dispatches to put back, and the breaker's state. */
  failed(job: Job, error: unknown) {
    const { now, random } = this.#options;
    const lane = this.#settle(job);
    const failures = this.failures(job) + 1;
    this.#failures.set(job.delivery.sequence, failures);
    const pauseMs = lane.failed(job.round, error, now(), random());
    // A dispatch that fails among successes backs off on its own.
    const delayMs = Math.max(pauseMs, retryDelay(failures, random()));
    const { openCircuit } = lane;
    return { delayMs, openCircuit, putBack: openCircuit === undefined ? [] : this.#releaseWaiting(lane) };
  }

  failures({ delivery }: Job): number {
    return this.#failures.get(delivery.sequence) ?? 0;
  }

  refusals({ session }: Job): number {
    return this.#lane(session).refusals;
  }

  releaseWaiting(): readonly { readonly job: Job; readonly delayMs: number }[] {
    return [...this.#turns].flatMap((lane) => this.#releaseWaiting(lane));
  }

  setAside(): SetAside {
    const now = this.#options.now();
    const lanes = [...this.#lanes.values()].filter(({ openCircuit }) => openCircuit !== undefined);
    const oldestFirst = lanes
      .flatMap(({ openCircuit }) => openCircuit ?? [])
      .sort((one, two) => one.since.localeCompare(two.since));
    return {
      sessions: lanes.length,
      dispatches: lanes.reduce((sum, lane) => sum + lane.size + lane.stillPutBack(now), 0),
      worst: oldestFirst.slice(0, MAX_LISTED),
    };
  }

  /** Counts a start, and moves the session to the end of the round robin after its turn. */
  #started(lane: SessionLane): void {
    lane.inTurn += 1;
    if (lane.waiting.length > 0 && lane.inTurn < MOST_IN_TURN) return;
    lane.inTurn = 0;
    this.#turns.delete(lane);
    if (lane.waiting.length > 0) this.#turns.add(lane);
  }

  #isFull({ size, bytes }: SessionLane): boolean {
    if (size === 0) return false;
    return size >= (MAX_HELD - this.size) * SHARE || bytes >= (MAX_HELD_BYTES - this.#bytes) * SHARE;
  }

  #releaseWaiting(lane: SessionLane) {
    const now = this.#options.now();
    const { waiting } = lane;
    lane.waiting = [];
    this.#turns.delete(lane);
    this.#waiting -= waiting.length;
    for (const { delivery } of waiting) this.#release(lane, delivery);
    return waiting.map((job) => ({ job, delayMs: lane.putBack(now, TROUBLED_EVERY_MS) }));
  }

  #settle({ session, delivery }: Job): SessionLane {
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
    // Skip idle periods.
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
        if (idle.size > 0 || idle === lane) continue;
        this.#lanes.delete(idle.session);
        break;
      }
    }
    return lane;
  }
}
