import { ThroughlineError } from '../../contracts/errors.js';

/** A lease as its record says. */
export interface Lease {
  readonly holder: string;
  /** When the holder claimed it first, ISO 8601. */
  readonly since: string;
}

export interface LeaseClaim {
  readonly holder: string;
  /** How long the lease stays without being renewed, in milliseconds: at least 1,000, as the server counts. */
  readonly ttlMs: number;
  /** The time now, ISO 8601. */
  readonly at: string;
  /** Holders that have ended without a release: their lease is taken over at once. */
  readonly ended?: readonly string[];
}

/**
 * Leases by key, each with one holder at a time: compare-and-set with a time to live. The store ends a lease that is not
 * renewed in time by its own clock; no holder compares clocks.
 */
export interface LeaseStore {
  /**
   * Claims the lease, or renews it for its holder. Of several that claim a free lease at once, one gets it. Returns the lease
   * as it is held afterwards: it is claimed if its holder is the claimant.
   *
   * @throws ThroughlineError `unavailable`, `permission_denied`
   */
  claim(key: string, claim: LeaseClaim): Promise<Lease>;

  /** Gives the lease back, if this holder has it. Throws as `claim`. */
  release(key: string, holder: string): Promise<void>;
}

/** A lease that this process holds: a heartbeat renews it until it is released. */
export interface HeldLease {
  readonly holder: string;
  /** Aborts once another holder is known to have it, or to have been able to, with the error that `confirm` throws. */
  readonly lost: AbortSignal;
  /** Renews it now. @throws ThroughlineError `conflict` if it is lost; else as `LeaseStore.claim` */
  confirm(): Promise<void>;
  /** Throws nothing: the lease ends by itself. */
  release(): Promise<void>;
}

interface HoldOptions extends Omit<LeaseClaim, 'at'> {
  readonly now: () => string;
  /** Describes the lease in the error of a loss: "task 2.1", "the import of session demo". */
  readonly what: string;
  /** Between two heartbeats, in milliseconds. Default: a third of `ttlMs`, so that two may be lost. */
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
      // A heartbeat without an answer is made up for by the next.
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
      // Another holder may have done the step meanwhile. A heartbeat does not say so: what is being done may still count.
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

/** True if the lease is held by this process. */
export function isHeld(lease: HeldLease | Lease): lease is HeldLease {
  return 'confirm' in lease;
}
