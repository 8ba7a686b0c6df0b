import { describe, expect, it } from 'vitest';
import { LEASE_BUCKET } from '../../../src/contracts/names.js';
import { startTestNats } from '../../support/nats-server.js';
import { soon } from '../../support/soon.js';
import { newSession, openPorts, twoOnNats } from './opened.js';

const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:01:00.000Z';
const LONG = { ttlMs: 60_000, at: AT };

describe('on NATS', async () => {
  const opened = await twoOnNats();
  const { leases } = opened.nats;
  const { leases: other } = opened.other;

  it('a lease has one holder, whom a second claimant is told of', async () => {
    const key = newSession('lease');
    expect(await leases.claim(key, { ...LONG, holder: 'a' })).toEqual({ holder: 'a', since: AT });
    expect(await other.claim(key, { ...LONG, holder: 'b', at: LATER })).toEqual({ holder: 'a', since: AT });
    expect(await other.claim(newSession('lease'), { ...LONG, holder: 'b' })).toMatchObject({ holder: 'b' });
  });

  it('a lease is given to one of many that claim it at once', async () => {
    const key = newSession('lease');
    const claims = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? leases : other).claim(key, { ...LONG, holder: `h${index}` }),
    );
    expect(new Set((await Promise.all(claims)).map(({ holder }) => holder)).size).toBe(1);
  });

  it('a lease is renewed by its holder, and keeps the time at which it was claimed beside that of the renewal', async () => {
    const key = newSession('lease');
    await leases.claim(key, { holder: 'a', ttlMs: 1000, at: AT });
    expect(await leases.claim(key, { ...LONG, holder: 'a', at: LATER })).toEqual({
      holder: 'a',
      since: AT,
      renewed: LATER,
    });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'a' });
  });

  it('a lease ends when it is not renewed in time', async () => {
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

  it('a lease is taken over at once from a holder that is known to have ended', async () => {
    const key = newSession('lease');
    await leases.claim(key, { ...LONG, holder: 'a' });
    const claim = { ...LONG, holder: 'b', at: LATER, ended: ['x', 'a'] };
    expect(await other.claim(key, claim)).toEqual({ holder: 'b', since: LATER });
  });

  it('a lease is free once its holder has released it, and stays where another one tries', async () => {
    const key = newSession('lease');
    await leases.release(key, 'a');
    await leases.claim(key, { ...LONG, holder: 'a' });
    await other.release(key, 'b');
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'a' });
    await leases.release(key, 'a');
    expect(await other.claim(key, { ...LONG, holder: 'b' })).toMatchObject({ holder: 'b' });
  });

  it('a lease leaves nothing behind once it has ended', async () => {
    const key = newSession('gone');
    await opened.nats.leases.claim(key, { holder: 'a', ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' });
    await opened.nats.leases.release(key, 'a');
    const jsm = await opened.nats.connection.jetstreamManager();
    const { state } = await jsm.streams.info(`KV_${LEASE_BUCKET}`, {
      subjects_filter: `$KV.${LEASE_BUCKET}.${key}`,
    });
    expect(state.subjects ?? {}).toEqual({});
  });

  it('a lease is claimed again after its bucket was deleted, by its holder or another one', async () => {
    const [one, two] = [newSession('one'), newSession('two')];
    const claim = { ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' };
    await opened.nats.leases.claim(one, { ...claim, holder: 'a' });
    await opened.nats.leases.claim(two, { ...claim, holder: 'a' });
    await (await opened.nats.connection.jetstreamManager()).streams.delete(`KV_${LEASE_BUCKET}`);
    expect(await opened.nats.leases.claim(one, { ...claim, holder: 'a' })).toMatchObject({ holder: 'a' });
    expect(await opened.other.leases.claim(two, { ...claim, holder: 'b' })).toMatchObject({ holder: 'b' });
    expect(await opened.nats.leases.claim(two, { ...claim, holder: 'a' })).toMatchObject({ holder: 'b' });
  });

  it('a lease is claimed where someone listens to everything and there is no bucket yet', async () => {
    const server = await startTestNats();
    const ports = await openPorts(server.url);
    ports.connection.subscribe('>', { callback: () => {} });
    const claim = { holder: 'a', ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' };
    expect(await ports.leases.claim(newSession('heard'), claim)).toMatchObject({ holder: 'a' });
    await ports.close();
    await server.stop();
  });

  it('a lease is unavailable on a closed connection', async () => {
    const ports = await openPorts(opened.nats.server.url);
    await ports.close();
    const claim = { holder: 'a', ttlMs: 1000, at: '2026-01-01T00:00:00.000Z' };
    await expect(ports.leases.claim(newSession('closed'), claim)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(ports.leases.release('closed', 'a')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
