import { ThroughlineError } from '../../contracts/errors.js';

export interface Lease {
  readonly holder: string;
  /** Time of the holder's first claim, ISO 8601. */
  readonly since: string;
  /** Time of its newest renewal, ISO 8601; absent before the first one. */
  readonly renewed?: string;
}

export interface LeaseClaim {
  readonly holder: string;
  /** Time to live without renewal, in milliseconds by the server's clock: at least 1,000. */
  readonly ttlMs: number;
  readonly at: string;
  /** Holders that ended without a release: their leases can be taken over at once. */
  readonly ended?: readonly string[];
}

/** Leases by key: compare-and-set with a time to live. The store expires a lease by its own clock; no clocks are compared. */
export interface LeaseStore {
  /**
   * Claims the lease, or renews it for its holder; exactly one of several concurrent claims wins. Returns the lease as it is
   * held afterwards: the claim succeeded if its holder is the claimant. Throws `unavailable`, `permission_denied`.
   */
  claim(key: string, claim: LeaseClaim): Promise<Lease>;

  /** Releases the lease if this holder has it. Throws as `claim`. */
  release(key: string, holder: string): Promise<void>;
}

/** A lease held by this process; a heartbeat renews it until it is released. */
export interface HeldLease {
  readonly holder: string;
  /** Aborts with the error of `confirm` once another holder has the lease, or could have had it. */
  readonly lost: AbortSignal;
  /** Renews the lease now (fencing). @throws ThroughlineError `conflict` if it is lost; else as `LeaseStore.claim` */
  confirm(): Promise<void>;
  /** Never rejects: an unreleased lease expires. */
  release(): Promise<void>;
}

interface HoldOptions extends Omit<LeaseClaim, 'at'> {
  readonly now: () => string;
  /** Names the lease in error messages: "task 2.1". */
  readonly what: string;
  /** Heartbeat interval in milliseconds. Default: a third of `ttlMs`, so that two heartbeats may be lost. */
  readonly beatMs?: number;
}

/** Claims a lease and renews it. Returns the lease of the other holder if it is taken. Throws as `LeaseStore.claim`. */
export async function holdLease(
  store: LeaseStore,
  key: string,
  { what, now, beatMs, ended, ...claim }: HoldOptions,
): Promise<HeldLease | Lease> {
  const { holder, ttlMs } = claim;
  const first = await store.claim(key, { ...claim, at: now(), ...(ended !== undefined && { ended }) });
  if (first.holder !== holder) return first;
  const lost = new AbortController();
  const lose = (message: string) => {
    clearInterval(timer);
    lost.abort(new ThroughlineError('conflict', message));
  };
  const renew = async () => {
    const { holder: by, since } = await store.claim(key, { ...claim, at: now() });
    if (by !== holder) lose(`${what} is being worked on by ${by} since ${since}`);
    return since;
  };
  let beating: Promise<unknown> | undefined;
  const timer = setInterval(
    () => {
      // The next heartbeat makes up for a failed one.
      beating ??= renew()
        .catch(() => {})
        .finally(() => {
          beating = undefined;
        });
    },
    beatMs ?? ttlMs / 3,
  );
  return {
    holder,
    lost: lost.signal,
    async confirm() {
      lost.signal.throwIfAborted();
      const since = await renew();
      // Another holder may have done the step meanwhile. Heartbeats do not check this: work under way may still count.
      if (since !== first.since) lose(`the lease of ${what} had lapsed: it is claimed again`);
      lost.signal.throwIfAborted();
    },
    async release() {
      clearInterval(timer);
      await beating;
      await store.release(key, holder).catch(() => {});
    },
  };
}

export function isHeld(lease: HeldLease | Lease): lease is HeldLease {
  return 'confirm' in lease;
}
