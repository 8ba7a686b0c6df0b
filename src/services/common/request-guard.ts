import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import { isToken } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/logger.js';
import { addCounts, redactJson, type SecretCounts } from '../../memory/redaction/redactor.js';
import type { SecretScanner } from '../../memory/redaction/secret-scanner.js';

/**
 * The guard between a service and its handlers: it limits each session's rate, and takes secrets out before anything is
 * kept.
 */
interface GuardOptions {
  /** Requests of one session a second, for all handlers together; 0 for no limit. */
  readonly requestsPerSecond: number;
  /** Without one, requests are passed on as they are: for handlers that keep nothing. */
  readonly secrets?: SecretScanner;
  readonly logger: Logger;
  /** Milliseconds from any fixed moment on. */
  readonly now?: () => number;
}

/** The part of an endpoint that the guard works on. */
interface Guardable {
  readonly name: string;
  /** `caller` is whom the answer goes to, as far as NATS tells. */
  readonly handle: (request: unknown, caller: string) => Promise<unknown>;
  readonly stats?: () => unknown;
}

/** Endpoints with the guard before each. One without statistics gets those of the guard: secrets taken out, by rule. */
export function guarded<Endpoint extends Guardable>(
  { requestsPerSecond, secrets, logger, now = () => performance.now() }: GuardOptions,
  endpoints: readonly Endpoint[],
): Endpoint[] {
  const limiter = new RateLimiter({ perSecond: requestsPerSecond, now });
  return endpoints.map((endpoint) => {
    const redacted: SecretCounts = {};
    const handle = async (request: unknown, caller: string) => {
      const session = nameOf(request);
      limiter.admit(session ?? `${CALLER}${caller}`);
      if (secrets === undefined) return endpoint.handle(request, caller);
      const { value, found } = redactJson(request, secrets);
      if (Object.keys(found).length > 0) {
        addCounts(redacted, found);
        logger.info(
          { endpoint: endpoint.name, ...fieldOf(session), redacted: found },
          'secrets taken out of a request',
        );
      }
      return endpoint.handle(value, caller);
    };
    const stats = () => (Object.keys(redacted).length === 0 ? null : { redacted });
    return { stats, ...endpoint, handle };
  });
}

// No session can have either name.
const PROJECT = 'project ';
const CALLER = 'caller ';

function fieldOf(name: string | undefined): object {
  return name?.startsWith(PROJECT) ? { project: name.slice(PROJECT.length) } : { session: name };
}

/** The session that a request is about, or the project; those of one caller that name neither share one bucket. */
function nameOf(request: unknown): string | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  if ('session' in request && isToken(request.session)) return request.session;
  return 'project' in request && isToken(request.project) ? `${PROJECT}${request.project}` : undefined;
}

/**
 * A bucket for each key: it fills at a constant rate, and holds what two seconds give. The keys are bounded: the one
 * that was not used for longest is forgotten, and begins again with a full bucket.
 */
interface BucketLimits {
  /** How much each bucket gains in a second; 0 for no limit. */
  readonly perSecond: number;
  /** Milliseconds from any fixed moment on. */
  readonly now: () => number;
}

interface Bucket {
  level: number;
  at: number;
}

const BURST_SECONDS = 2;
const MAX_BUCKETS = 10_000;

class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });

  constructor(limits: BucketLimits) {
    this.#limits = limits;
  }

  /**
   * Milliseconds until the key may take this amount, 0 for now. More than a bucket holds may be taken from a full one,
   * which then owes the rest.
   */
  waitFor(key: string, cost: number): number {
    const { perSecond } = this.#limits;
    if (perSecond === 0) return 0;
    const missing = Math.min(cost, perSecond * BURST_SECONDS) - this.#filled(key).level;
    return missing > 0 ? Math.ceil((missing * 1000) / perSecond) : 0;
  }

  /** Takes this amount from the key's bucket, whatever it holds. */
  take(key: string, cost: number): void {
    if (this.#limits.perSecond !== 0) this.#filled(key).level -= cost;
  }

  #filled(key: string): Bucket {
    const { perSecond, now } = this.#limits;
    const at = now();
    const full = perSecond * BURST_SECONDS;
    const known = this.#buckets.get(key);
    const gained = known === undefined ? full : ((at - known.at) * perSecond) / 1000;
    const bucket = { level: Math.min(full, (known?.level ?? 0) + Math.max(0, gained)), at };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

/**
 * A session may send a number of requests a second on average, and twice as many at once after a pause. Its excess
 * costs other sessions nothing.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #buckets: TokenBuckets;

  constructor(limits: BucketLimits) {
    this.#perSecond = limits.perSecond;
    this.#buckets = new TokenBuckets(limits);
  }

  /**
   * Takes one request of a session, or of a caller, into account.
   *
   * @throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details
   */
  admit(session: string): void {
    const retryAfterMs = this.#buckets.waitFor(session, 1);
    if (retryAfterMs === 0) {
      this.#buckets.take(session, 1);
      return;
    }
    const perSecond = this.#perSecond;
    throw new ThroughlineError(
      'rate_limited',
      `the session sends more than ${perSecond} requests a second: try again in ${retryAfterMs} ms, or raise requestsPerSecond of THROUGHLINE_TUNING`,
      { details: { retryAfterMs, perSecond } },
    );
  }
}

/** A request as it came, unread. */
export interface RawRequest {
  readonly bytes: number;
  /** The receiver of the answer; unset where no answer is wanted. See `callerOf`. */
  readonly caller: string;
  /** The session that its subject names. */
  readonly session?: string;
}

interface ByteBudgetOptions {
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
