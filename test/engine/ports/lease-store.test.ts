import { describe, expect, it } from 'vitest';
import { LEASE_BUCKET } from '../../../src/contracts/names.js';
import { MemoryLeaseStore } from '../../doubles/memory-lease-store.js';
import { startTestNats } from '../../support/nats-server.js';
import { leaseStoreContract } from './lease-store.contract.js';
import { newSession, openPorts, twoOnNats } from './opened.js';

const memory = new MemoryLeaseStore();
leaseStoreContract('in memory', () => ({ leases: memory, other: memory }));

describe('on NATS', async () => {
  const opened = await twoOnNats();
  leaseStoreContract('on NATS', () => ({ leases: opened.nats.leases, other: opened.other.leases }));

  it('a lease on NATS leaves nothing behind once it has ended', async () => {
    const key = newSession('gone');
    await opened.nats.leases.claim(key, { holder: 'a', ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' });
    await opened.nats.leases.release(key, 'a');
    const jsm = await opened.nats.connection.jetstreamManager();
    const { state } = await jsm.streams.info(`KV_${LEASE_BUCKET}`, {
      subjects_filter: `$KV.${LEASE_BUCKET}.${key}`,
    });
    expect(state.subjects ?? {}).toEqual({});
  });

  it('a lease on NATS is claimed again after its bucket was deleted, by its holder or another one', async () => {
    const [one, two] = [newSession('one'), newSession('two')];
    const claim = { ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' };
    await opened.nats.leases.claim(one, { ...claim, holder: 'a' });
    await opened.nats.leases.claim(two, { ...claim, holder: 'a' });
    await (await opened.nats.connection.jetstreamManager()).streams.delete(`KV_${LEASE_BUCKET}`);
    expect(await opened.nats.leases.claim(one, { ...claim, holder: 'a' })).toMatchObject({ holder: 'a' });
    expect(await opened.other.leases.claim(two, { ...claim, holder: 'b' })).toMatchObject({ holder: 'b' });
    expect(await opened.nats.leases.claim(two, { ...claim, holder: 'a' })).toMatchObject({ holder: 'b' });
  });

  it('a lease on NATS is claimed where someone listens to everything and there is no bucket yet', async () => {
    const server = await startTestNats();
    const ports = await openPorts(server.url);
    ports.connection.subscribe('>', { callback: () => {} });
    const claim = { holder: 'a', ttlMs: 60_000, at: '2026-01-01T00:00:00.000Z' };
    expect(await ports.leases.claim(newSession('heard'), claim)).toMatchObject({ holder: 'a' });
    await ports.close();
    await server.stop();
  });

  it('a lease on NATS is unavailable on a closed connection', async () => {
    const ports = await openPorts(opened.nats.server.url);
    await ports.close();
    const claim = { holder: 'a', ttlMs: 1000, at: '2026-01-01T00:00:00.000Z' };
    await expect(ports.leases.claim(newSession('closed'), claim)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect(ports.leases.release('closed', 'a')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
