import type { ErrorCode } from '../../contracts/error-codes.js';
import { codeOf, messageOf } from '../../contracts/errors.js';
import type { DispatchDelivery } from '../../engine/ports/dispatch-source.js';
import { type BackoffLimits, backoffMs } from '../../shared/backoff.js';
import { clipText, oneLine } from '../../shared/text.js';

/** A dispatch in an extractor's hands: it waits for its turn, or is worked on. */
export interface Held {
  readonly session: string;
  readonly delivery: DispatchDelivery;
  /** Whether no worker can have begun work on it before. */
  readonly isNew: boolean;
  /** The session's round in which work on it began. */
  round: number;
}

/** A session whose dispatches are set aside. */
export interface Trouble {
  readonly session: string;
  readonly code: ErrorCode;
  /** The last error of its log, with a fix where one is known. */
  readonly reason: string;
  /** When its first attempt failed, in milliseconds since 1970. */
  readonly since: number;
}

/** This many failures in a row are no longer the fault of one dispatch. */
const IN_A_ROW = 3;
/** Dispatches come back in groups: the server looks through all that it holds back for each moment at which one is due. */
const GROUP_MS = 100;

/** Refusals that a log repeats until someone changes something; after an outage, it accepts what it refused. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['store_full', 'config_invalid', 'too_large', 'internal']);

/** Whether a log was reached, and did not take an event. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(codeOf(error));
}

/** The dispatches of one session that an extractor holds, those that it has put back, and the last state of its log. */
export class SessionLane {
  readonly session: string;
  readonly waiting = new Fifo<Held>();
  active = 0;
  /** Begun since it was last behind the others. */
  inTurn = 0;
  /** Of all bodies held. */
  bytes = 0;
  /** Rises with each pause. */
  round = 0;
  #pausedUntil = 0;
  #failures = 0;
  #pauses = 0;
  #refusals = 0;
  #last: Trouble | undefined;
  #lastReturn = 0;
  /** How many come back at which time. */
  readonly #away = new Map<number, number>();

  constructor(session: string) {
    this.session = session;
  }

  get held(): number {
    return this.active + this.waiting.length;
  }

  /** Set while its dispatches are set aside. */
  get trouble(): Trouble | undefined {
    return this.#failures < IN_A_ROW ? undefined : this.#last;
  }

  /** How many times in a row its log has refused an event, with a pause after each. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Whether a dispatch may be tried: while in trouble one at a time, and none before the pause is over. */
  admits(now: number): boolean {
    return this.trouble === undefined || (this.held === 0 && now >= this.#pausedUntil);
  }

  /** Its log has taken an event. */
  took(): void {
    this.#failures = this.#pauses = this.#refusals = this.#pausedUntil = 0;
    this.#last = undefined;
    this.#away.clear();
  }

  /**
   * An attempt has failed. Of those that were begun before the last pause none makes the next one longer.
   *
   * @param begun the round in which it was begun
   * @returns milliseconds until the next attempt
   */
  failed(begun: number, error: unknown, now: number, random: number): number {
    this.#failures += 1;
    const since = this.#last?.since ?? now;
    this.#last = { session: this.session, code: codeOf(error), reason: messageOf(error), since };
    if (begun === this.round) {
      this.round += 1;
      this.#pauses += 1;
      this.#refusals = isRefusal(error) ? this.#refusals + 1 : 0;
      this.#pausedUntil = now + retryDelay(this.#pauses, random);
    }
    this.#goesAway(this.#pausedUntil);
    return Math.max(0, this.#pausedUntil - now);
  }

  /** The next may be tried at once. */
  endPause(): void {
    this.#pausedUntil = 0;
  }

  /**
   * Milliseconds for which one more is put back: they come back one after the other, `everyMs` apart, and in trouble
   * not before the pause is over.
   */
  putBack(now: number, everyMs: number): number {
    this.#lastReturn = Math.max(this.#lastReturn + everyMs, this.#pausedUntil, now + everyMs);
    const at = Math.ceil(this.#lastReturn / GROUP_MS) * GROUP_MS;
    this.#goesAway(at);
    return at - now;
  }

  /** How many have been put back and have not come back yet. */
  away(now: number): number {
    let count = 0;
    for (const [at, many] of this.#away) {
      if (at <= now) this.#away.delete(at);
      else count += many;
    }
    return count;
  }

  #goesAway(until: number): void {
    this.#away.set(until, (this.#away.get(until) ?? 0) + 1);
  }
}

/** First in, first out, at the same cost however many wait. */
class Fifo<T> {
  #items: T[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#taken];
    if (item === undefined) return undefined;
    this.#taken += 1;
    // Taken items are released together, once they are half of all: a shift of a large array copies the rest.
    if (this.#taken * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#taken = 0;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.slice(this.#taken).values();
  }
}

/** The part of an extractor's health about sessions whose logs accept nothing. */
export interface SetAside {
  readonly sessions: number;
  /** About how many dispatches of theirs wait, of those that this extractor has seen. */
  readonly dispatches: number;
  /** Those that have been set aside for longest. */
  readonly worst: readonly {
    readonly session: string;
    readonly code: ErrorCode;
    readonly reason: string;
    /** ISO 8601 in UTC. */
    readonly since: string;
  }[];
}

const MAX_TOLD = 10;
const MAX_REASON = 300;

export function setAsideOf(aside: {
  readonly troubles: readonly Trouble[];
  readonly dispatches: number;
}): SetAside {
  return {
    sessions: aside.troubles.length,
    dispatches: aside.dispatches,
    worst: aside.troubles.slice(0, MAX_TOLD).map(({ session, code, reason, since }) => ({
      session,
      code,
      reason: clipText(oneLine(reason), MAX_REASON),
      since: isoOf(since),
    })),
  };
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The one place where the outcome of a delivery turns into ack, nak or term.
 */
export type Disposition =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly reason: string };

export function dispose(delivery: DispatchDelivery, disposition: Disposition): void {
  switch (disposition.kind) {
    case 'done':
      delivery.ack();
      return;
    case 'retry':
      delivery.nak(disposition.delayMs);
      return;
    case 'rejected':
      delivery.term(disposition.reason);
      return;
  }
}

const RETRIES: BackoffLimits = { firstMs: 250, longestMs: 30_000 };

/**
 * Delay before the next delivery, in milliseconds: it doubles with each one, up to 30 s.
 *
 * @param random 0 to 1
 */
export function retryDelay(delivery: number, random: number): number {
  return backoffMs(RETRIES, delivery, random);
}
