import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf } from '../../contracts/errors.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import { type BackoffLimits, backoffMs } from '../../shared/backoff.js';
import { clipText, oneLine } from '../../shared/text.js';

/** A dispatch in progress or waiting for its session's turn. */
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
  /** Dispatches put back, by the time of their return. */
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

  /** Closes the breaker: its log accepted an event. */
  closeCircuit(): void {
    this.#failures = this.#pauses = this.#refusals = this.#pausedUntil = 0;
    this.#last = undefined;
    this.#putBackUntil.clear();
  }

  /**
   * Records a failed attempt. Attempts that started before the last pause do not extend the next one.
   *
   * @param begun round in which it started
   * @returns milliseconds until the next attempt
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

  /** Allows the next attempt immediately. */
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
  /** Those set aside for longest. */
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
