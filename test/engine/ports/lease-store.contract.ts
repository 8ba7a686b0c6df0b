import { expect, it } from 'vitest';
import type { LeaseStore } from '../../../src/engine/ports/lease-store.js';
import { soon } from '../../support/soon.js';
import { newSession } from './opened.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:01:00.000Z';
const LONG = { ttlMs: 60_000, at: AT };

/** The contract of `src/engine/ports/lease-store.ts`. */
export function leaseStoreContract(
  name: string,
  open: () => { readonly leases: LeaseStore; readonly other: LeaseStore },
): void {
  it(`a lease ${name} has one holder, whom a second claimant is told of`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    expect(await leases.claim(key, { ...LONG, holder: 'a' })).toEqual({ holder: 'a', since: AT });
    expect(await other.claim(key, { ...LONG, holder: 'b', at: LATER })).toEqual({ holder: 'a', since: AT });
    expect(await other.claim(newSession('lease'), { ...LONG, holder: 'b' })).toMatchObject({ holder: 'b' });
  });

  it(`a lease ${name} is given to one of many that claim it at once`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    const claims = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? leases : other).claim(key, { ...LONG, holder: `h${index}` }),
    );
    expect(new Set((await Promise.all(claims)).map(({ holder }) => holder)).size).toBe(1);
  });

  it(`a lease ${name} is renewed by its holder, and keeps the time at which it was claimed`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    await leases.claim(key, { holder: 'a', ttlMs: 1000, at: AT });
    expect(await leases.claim(key, { ...LONG, holder: 'a', at: LATER })).toEqual({ holder: 'a', since: AT });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'a' });
  });

  it(`a lease ${name} ends when it is not renewed in time`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    await leases.claim(key, { holder: 'a', ttlMs: 1000, at: AT });
    await soon(async () =>
      expect(await other.claim(key, { ...LONG, holder: 'b', at: LATER })).toEqual({
        holder: 'b',
        since: LATER,
      }),
    );
    expect(await leases.claim(key, { ...LONG, holder: 'a' })).toMatchObject({ holder: 'b' });
  });

  it(`a lease ${name} is taken over at once from a holder that is known to have ended`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    await leases.claim(key, { ...LONG, holder: 'a' });
    const claim = { ...LONG, holder: 'b', at: LATER, ended: ['x', 'a'] };
    expect(await other.claim(key, claim)).toEqual({ holder: 'b', since: LATER });
  });

  it(`a lease ${name} is free once its holder has released it, and stays where another one tries`, async () => {
    const { leases, other } = open();
    const key = newSession('lease');
    await leases.release(key, 'a');
    await leases.claim(key, { ...LONG, holder: 'a' });
    await other.release(key, 'b');
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'a' });
    await leases.release(key, 'a');
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'b' });
  });
}
