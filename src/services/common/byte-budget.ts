import { ThroughlineError } from '../../contracts/errors.js';
import { TokenBuckets } from './token-buckets.js';

/** A request as it came, unread. */
export interface RawRequest {
  readonly bytes: number;
  /** The receiver of the answer; unset where no answer is wanted. See `callerOf`. */
  readonly caller: string;
  /** The session that its subject names. */
  readonly session?: string;
}

export interface ByteBudgetOptions {
  /** KiB of requests that one caller, and one session, may send in a second; 0 for no limit. */
  readonly requestKbPerSecond: number;
  /** Milliseconds from any fixed moment on. */
  readonly now?: () => number;
}

/** Larger requests also count against a budget that all callers share. */
const LARGE_BYTES = 64 * 1024;
/** That budget, as a multiple of what one caller has. */
const ALL_CALLERS = 4;
const ALL = 'all';

/**
 * How many bytes are read: to read a request takes time in proportion to its size, and everyone waits meanwhile. So this
 * is asked before a request is read, and knows no more of it than what NATS tells: its size, its subject, and where its
 * answer goes to.
 *
 * A caller that takes a new inbox for each request has a new budget each time. The budget for large requests of all
 * callers together bounds what that gains.
 *
 * @returns takes a request into account. Throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details.
 */
export function byteBudget({
  requestKbPerSecond,
  now = () => performance.now(),
}: ByteBudgetOptions): (request: RawRequest) => void {
  const perSecond = requestKbPerSecond * 1024;
  const own = new TokenBuckets({ perSecond, now });
  const large = new TokenBuckets({ perSecond: perSecond * ALL_CALLERS, now });
  return ({ bytes, caller, session }) => {
    const keys = [`caller ${caller}`, ...(session === undefined ? [] : [`session ${session}`])];
    const isLarge = bytes > LARGE_BYTES;
    const ownWaitMs = Math.max(...keys.map((key) => own.waitFor(key, bytes)));
    const retryAfterMs = Math.max(ownWaitMs, isLarge ? large.waitFor(ALL, bytes) : 0);
    if (retryAfterMs === 0) {
      for (const key of keys) own.take(key, bytes);
      if (isLarge) large.take(ALL, bytes);
      return;
    }
    const who = ownWaitMs > 0 ? 'this caller, or its session, sends' : 'all callers together send';
    const kbPerSecond = ownWaitMs > 0 ? requestKbPerSecond : requestKbPerSecond * ALL_CALLERS;
    throw new ThroughlineError(
      'rate_limited',
      `${who} more than ${kbPerSecond} KiB of requests a second: try again in ${retryAfterMs} ms, or send less`,
      { details: { retryAfterMs, kbPerSecond } },
    );
  };
}
