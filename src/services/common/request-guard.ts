import { LRUCache } from 'lru-cache';
import { ThroughlineError } from '../../contracts/errors.js';
import { isToken } from '../../contracts/names.js';
import type { Logger } from '../../engine/ports/clients.js';
import {
  addCounts,
  redactJson,
  type SecretCounts,
  type SecretScanner,
} from '../../memory/redaction/redactor.js';

interface GuardOptions {
  /** Requests per second and session, over all handlers; 0 for no limit. */
  readonly requestsPerSecond: number;
  /** Default: no redaction, for handlers that store nothing. */
  readonly secrets?: SecretScanner;
  readonly logger: Logger;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

interface Guardable {
  readonly name: string;
  /** `caller` identifies the receiver of the reply, if NATS tells. */
  readonly handle: (request: unknown, caller: string) => Promise<unknown>;
  readonly stats?: () => unknown;
}

/**
 * Wraps endpoints: limits each session's request rate and redacts secrets before a handler stores anything. An endpoint
 * without statistics gets the guard's: redacted secrets by rule.
 */
export function guarded<Endpoint extends Guardable>(
  { requestsPerSecond, secrets, logger, now = () => performance.now() }: GuardOptions,
  endpoints: readonly Endpoint[],
): Endpoint[] {
  const admit = rateLimiter({ perSecond: requestsPerSecond, now });
  return endpoints.map((endpoint) => {
    const redacted: SecretCounts = {};
    const handle = async (request: unknown, caller: string) => {
      const session = nameOf(request);
      admit(session ?? `${CALLER}${caller}`);
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

// Not valid names of sessions.
const PROJECT = 'project ';
const CALLER = 'caller ';

function fieldOf(name: string | undefined): object {
  return name?.startsWith(PROJECT) ? { project: name.slice(PROJECT.length) } : { session: name };
}

/** Returns the bucket of a request: its session or project. A caller's other requests share one bucket. */
function nameOf(request: unknown): string | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  if ('session' in request && isToken(request.session)) return request.session;
  return 'project' in request && isToken(request.project) ? `${PROJECT}${request.project}` : undefined;
}

interface BucketLimits {
  /** Refill rate; 0 for no limit. */
  readonly perSecond: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface Bucket {
  level: number;
  at: number;
}

const BURST_SECONDS = 2;
const MAX_BUCKETS = 10_000;

/**
 * Token buckets by key, with a capacity of two seconds. The number of keys is bounded: an evicted one starts again with a
 * full bucket.
 */
class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });

  constructor(limits: BucketLimits) {
    this.#limits = limits;
  }

  /** Returns the milliseconds until a key may spend `cost`. A full bucket covers any cost and then goes into debt. */
  waitFor(key: string, cost: number): number {
    const { perSecond } = this.#limits;
    if (perSecond === 0) return 0;
    const missing = Math.min(cost, perSecond * BURST_SECONDS) - this.#filled(key).level;
    return missing > 0 ? Math.ceil((missing * 1000) / perSecond) : 0;
  }

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
 * Limits requests per second and session, with a burst of two seconds. Sessions do not affect each other.
 *
 * @returns counts one request, or throws ThroughlineError `rate_limited`, with `retryAfterMs` in its details
 */
export function rateLimiter(limits: BucketLimits): (session: string) => void {
  const { perSecond } = limits;
  const buckets = new TokenBuckets(limits);
  return (session) => {
    const retryAfterMs = buckets.waitFor(session, 1);
    if (retryAfterMs === 0) return buckets.take(session, 1);
    throw new ThroughlineError(
      'rate_limited',
      `the session sends more than ${perSecond} requests a second: try again in ${retryAfterMs} ms, or raise requestsPerSecond of THROUGHLINE_TUNING`,
      { details: { retryAfterMs, perSecond } },
    );
  };
}

/** A request before it is parsed. */
export interface RawRequest {
  readonly bytes: number;
  /** The receiver of the reply, if any. See `callerOf`. */
  readonly caller: string;
  readonly session?: string;
}

interface ByteBudgetOptions {
  /** KiB of requests per second, for each caller and each session; 0 for no limit. */
  readonly requestKbPerSecond: number;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Larger requests also draw on a budget that all callers share. */
const LARGE_BYTES = 64 * 1024;
/** That budget, as a multiple of a caller's. */
const ALL_CALLERS = 4;
const ALL = 'all';

/**
 * Limits the bytes that are parsed, since parsing takes time in proportion to size and blocks everyone. It is asked before a
 * request is parsed, so it sees only what NATS tells: size, subject and reply inbox.
 *
 * A caller that uses a new inbox for each request gets a new budget each time; the shared budget for large requests bounds
 * that.
 *
 * @returns admits a request, or throws ThroughlineError `rate_limited` with `retryAfterMs` in its details
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
