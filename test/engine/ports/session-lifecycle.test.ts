import { describe, expect, it, vi } from 'vitest';
import { LIFECYCLE_BUCKET } from '../../../src/contracts/names.js';
import { LIFECYCLE_STREAM } from '../../../src/nats/stores/kv-bucket.js';
import type { NatsSessionLifecycle } from '../../../src/nats/stores/nats-session-lifecycle.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { newSession, startPrivatePorts, twoOn } from './opened.js';
import { sessionLifecycleContract } from './session-lifecycle.contract.js';

sessionLifecycleContract('in memory', async () => {
  const store = new MemorySessionLifecycle();
  return { store, other: store, reopened: async () => store, close: async () => {} };
});

describe('on NATS', () => {
  const opened = twoOn(startPrivatePorts);
  const AT = '2026-01-31T12:00:00.000Z';

  sessionLifecycleContract('on NATS', async () => {
    const all: NatsSessionLifecycle[] = [];
    const follow = async (ports: typeof opened.other) => {
      const lifecycle = await ports.openLifecycle();
      all.push(lifecycle);
      return lifecycle;
    };
    return {
      store: await follow(opened.nats),
      other: await follow(opened.other),
      reopened: () => follow(opened.other),
      close: async () => {
        for (const each of all) each.close();
      },
    };
  });

  const bucket = () => opened.nats.connection.jetstream().views.kv(LIFECYCLE_BUCKET, { bindOnly: true });

  it('the lifecycle records on NATS are JSON under their keys, and the name of a forgotten session goes', async () => {
    await using lifecycle = await following();
    const session = newSession('json');
    await lifecycle.store.change(session, () => ({ at: AT, reason: 'done' }));
    const kv = await bucket();
    expect((await kv.get(`archived.${session}`))?.json()).toEqual({
      ...{ v: 1, status: 'archived', at: AT, reason: 'done' },
    });
    await lifecycle.store.forgetting(session, { at: AT, dispatches: 3, sequence: 4 });
    await lifecycle.store.forgot(session, AT);
    const jsm = await opened.nats.connection.jetstreamManager();
    const { state } = await jsm.streams.info(LIFECYCLE_STREAM, { subjects_filter: '>' });
    expect(Object.keys(state.subjects ?? {}).filter((subject) => subject.includes(session))).toEqual([]);
  });

  it.each(['', 'none', '{}', 'null', '{"v":2,"status":"archived","at":"2026-01-31T12:00:00.000Z"}'])(
    'the lifecycle records on NATS pass over a damaged value, and read on: %j',
    async (text) => {
      await using lifecycle = await following();
      const [damaged, session] = [newSession('damaged'), newSession('after')];
      await lifecycle.store.change(session, () => ({ at: AT }));
      await lifecycle.store.change(session, () => 'remove');
      const kv = await bucket();
      await kv.put(`archived.${damaged}`, text);
      await kv.put(`archived.${session}`, `{"v":1,"status":"archived","at":"${AT}"}`);
      await vi.waitFor(() => expect(lifecycle.store.archived(session)).toBeDefined(), 2000);
      expect(lifecycle.store.archived(damaged)).toBeUndefined();
      await lifecycle.store.change(damaged, () => ({ at: AT }));
      expect(lifecycle.store.archived(damaged)).toBeDefined();
    },
  );

  it('the lifecycle records on NATS are followed again after the server was restarted, with what was lost', async () => {
    await using lifecycle = await following();
    const [kept, lost, late] = [newSession('kept'), newSession('lost'), newSession('late')];
    for (const session of [lost, kept]) await lifecycle.store.change(session, () => ({ at: AT }));
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.purge(LIFECYCLE_STREAM, { filter: `$KV.${LIFECYCLE_BUCKET}.archived.${lost}` });
    await opened.nats.server.restart();
    await vi.waitFor(() => expect(lifecycle.store.archived(lost)).toBeUndefined(), 5000);
    expect(lifecycle.store.archived(kept)).toBeDefined();
    // A request lost in the restart is awaited until its timeout.
    await vi.waitFor(() => lifecycle.other.change(late, () => ({ at: AT })), 15_000);
    await vi.waitFor(() => expect(lifecycle.store.archived(late)).toBeDefined(), 2000);
  });

  it('the lifecycle records on NATS make their bucket again where it was deleted', async () => {
    await using lifecycle = await following();
    const session = newSession('remade');
    await lifecycle.store.change(session, () => ({ at: AT }));
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.delete(LIFECYCLE_STREAM);
    await expect(lifecycle.store.change(session, () => ({ at: AT }))).rejects.toMatchObject({
      code: 'unavailable',
    });
    const another = newSession('remade');
    await lifecycle.store.change(another, () => ({ at: AT }));
    await vi.waitFor(() => expect(lifecycle.other.archived(another)).toBeDefined(), 2000);
  });

  async function following() {
    const store = await opened.nats.openLifecycle();
    const other = await opened.other.openLifecycle();
    return {
      ...{ store, other },
      async [Symbol.asyncDispose]() {
        store.close();
        other.close();
      },
    };
  }
});
