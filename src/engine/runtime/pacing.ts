import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import type { BackoffLimits } from '../../shared/deadlines.js';
import type { Clock, Logger } from '../ports/logger-and-clock.js';

/** Coalesces requests: those that arrive during a run share the next one, so every run begins after its requests. */
export function batched<Request, Answer>(
  run: (requests: readonly Request[]) => Promise<Answer>,
): (request: Request) => Promise<Answer> {
  let waiting: { readonly requests: Request[]; readonly answer: Promise<Answer> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return (request) => {
    if (waiting === undefined) {
      const requests: Request[] = [];
      const answer = running.then(() => {
        waiting = undefined;
        return run(requests);
      });
      running = answer.catch(() => undefined);
      waiting = { requests, answer };
    }
    waiting.requests.push(request);
    return waiting.answer;
  };
}

/** Runs work that is requested repeatedly, never twice at once. */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isStopping = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Starts the work, or returns the promise of the running one. */
  run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }
}

/** A fair semaphore: waiters run in order of arrival. */
export class Semaphore {
  readonly #most: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // A finishing holder hands its permit over, so that no newcomer gets in between.
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** By then most of the work in progress has ended. */
const RETRY_AFTER_MS = 1000;

/** Limits concurrent work per key and in total. It refuses what exceeds the limit, where a semaphore lets it wait. */
export class ConcurrencyLimit {
  readonly #most: { readonly perKey: number; readonly inTotal?: number; readonly what: string };
  readonly #running = new Map<string, number>();
  #total = 0;

  /** @param most `what` names the work in the error: `requests that wait for a result` */
  constructor(most: { readonly perKey: number; readonly inTotal?: number; readonly what: string }) {
    this.#most = most;
  }

  /** @throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details; the errors of the work */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { perKey, inTotal = Number.POSITIVE_INFINITY, what } = this.#most;
    const running = this.#running.get(key) ?? 0;
    if (running >= perKey || this.#total >= inTotal) {
      const [who, most] = running >= perKey ? [key, perKey] : ['the installation', inTotal];
      const message = `${who} has ${most} ${what}: try again in ${RETRY_AFTER_MS} ms`;
      const details = { retryAfterMs: RETRY_AFTER_MS, most };
      throw new ThroughlineError('rate_limited', message, { details });
    }
    this.#running.set(key, running + 1);
    this.#total += 1;
    try {
      return await work();
    } finally {
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
      this.#total -= 1;
    }
  }
}

const DEFAULT_LONGEST_MS = 5000;

export class Backoff {
  readonly #limits: BackoffLimits;
  #nextMs: number;

  constructor(firstMs: number, longestMs = DEFAULT_LONGEST_MS) {
    this.#limits = { firstMs, longestMs };
    this.#nextMs = firstMs;
  }

  get nextMs(): number {
    return this.#nextMs;
  }

  /** Returns the next wait in milliseconds, and doubles the one after it. */
  take(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(this.#limits.longestMs, ms * 2);
    return ms;
  }

  async pause(signal: AbortSignal): Promise<void> {
    await pause(this.take(), signal);
  }

  reset(): void {
    this.#nextMs = this.#limits.firstMs;
  }
}

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {});
}

const EVERY_MS = 60_000;
/** Bounded: with more distinct warnings, some are repeated more often. */
const MAX_KNOWN = 1000;

/** Logs each distinct warning (`thing`, else its text) once a minute, with the number suppressed; `now` in milliseconds. */
export function limitedWarnings(
  logger: Pick<Logger, 'warn'>,
  now: () => number,
): (fields: object, message: string, thing?: string) => void {
  const last = new LRUCache<string, { readonly at: number; silent: number }>({ max: MAX_KNOWN });
  return (fields, message, thing = message) => {
    const before = last.get(thing);
    if (before !== undefined && now() - before.at < EVERY_MS) {
      before.silent += 1;
      return;
    }
    last.set(thing, { at: now(), silent: 0 });
    const silent = before?.silent ?? 0;
    logger.warn({ ...fields, ...(silent > 0 && { silent }) }, message);
  };
}

export const systemClock: Clock = () => new Date().toISOString();
