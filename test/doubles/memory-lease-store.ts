import type { Lease, LeaseClaim, LeaseStore } from '../../src/engine/ports/lease-store.js';

export class MemoryLeaseStore implements LeaseStore {
  readonly #leases = new Map<string, Lease & { readonly until: number }>();

  async claim(key: string, { holder, ttlMs, at, ended = [] }: LeaseClaim): Promise<Lease> {
    const there = this.#live(key);
    if (there !== undefined && there.holder !== holder && !ended.includes(there.holder)) return there;
    const mine = { holder, since: there?.holder === holder ? there.since : at };
    this.#leases.set(key, { ...mine, until: performance.now() + ttlMs });
    return mine;
  }

  async release(key: string, holder: string): Promise<void> {
    if (this.#live(key)?.holder === holder) this.#leases.delete(key);
  }

  #live(key: string): Lease | undefined {
    const there = this.#leases.get(key);
    return there === undefined || there.until <= performance.now()
      ? undefined
      : { holder: there.holder, since: there.since };
  }
}
