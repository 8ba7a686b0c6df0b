/** A lease as it is held now. */
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
