import { describe, expect, it, vi } from 'vitest';
import { LIFECYCLE_BUCKET, lifecycleKey, type Token } from '../../../src/contracts/names.js';
import { LIFECYCLE_STREAM } from '../../../src/nats/stores/kv-bucket.js';
import type { NatsSessionLifecycle } from '../../../src/nats/stores/nats-session-lifecycle.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { recordArchived, recordForgotten } from '../../support/lifecycle-records.js';
import { ofFile } from '../../support/of-file.js';
import { newSession, startPrivatePorts, withOther } from './opened.js';
import { sessionLifecycleContract } from './session-lifecycle.contract.js';

sessionLifecycleContract('in memory', async () => {
  const store = new MemorySessionLifecycle();
  return { store, other: store, reopened: async () => store, close: async () => {} };
});

describe('on NATS', async () => {
  const opened = await withOther(await ofFile(startPrivatePorts()));
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

  it('the lifecycle records on NATS are JSON, and the name of a forgotten session goes', async () => {
    await using lifecycle = await following();
    const session = newSession('json');
    await recordArchived(lifecycle.store, session, { at: AT, reason: 'done' });
    const kv = await bucket();
    expect((await kv.get(lifecycleKey(session)))?.json()).toEqual({
      ...{ v: 1, session, archived: { at: AT, reason: 'done' } },
    });
    await recordForgotten(lifecycle.store, session, { at: AT, dispatches: 3, sequence: 4 });
    await recordForgotten(lifecycle.store, session, {
      status: 'forgotten',
      at: AT,
      dispatches: 3,
      sequence: 4,
    });
    expect((await kv.get(lifecycleKey(session)))?.string()).not.toContain(session);
  });

  it('the server expires the record of a session that was forgotten a week ago, and no other', async () => {
    await using lifecycle = await following();
    const jsm = await opened.nats.connection.jetstreamManager();
    const ttlOf = async (session: Token) => {
      const subject = `$KV.${LIFECYCLE_BUCKET}.${lifecycleKey(session)}`;
      return (await jsm.streams.getMessage(LIFECYCLE_STREAM, { last_by_subj: subject })).header.get(
        'Nats-TTL',
      );
    };
    const session = newSession('ttl');
    await recordForgotten(lifecycle.store, session, { at: AT });
    expect(await ttlOf(session)).toBe('');
    await recordForgotten(lifecycle.store, session, { status: 'forgotten', at: AT });
    expect(await ttlOf(session)).toBe('604800s');
    await recordArchived(lifecycle.store, session, { at: AT });
    expect(await ttlOf(session)).toBe('');
  });

  it.each(['', 'none', '{}', 'null', `{"v":2,"archived":{"at":"${AT}"}}`])(
    'the lifecycle records on NATS pass over a damaged value, and read on: %j',
    async (text) => {
      await using lifecycle = await following();
      const [damaged, session] = [newSession('damaged'), newSession('after')];
      await recordArchived(lifecycle.store, session, { at: AT });
      await recordArchived(lifecycle.store, session, undefined);
      const kv = await bucket();
      await kv.put(lifecycleKey(damaged), text);
      const record = JSON.stringify({ v: 1, session, archived: { at: AT } });
      // A record under the key of another session does not apply to it.
      await kv.put(lifecycleKey(newSession('other')), record);
      await kv.put(lifecycleKey(session), record);
      await vi.waitFor(() => expect(lifecycle.store.archived(session)).toBeDefined(), 2000);
      expect(lifecycle.store.archived(damaged)).toBeUndefined();
      await recordArchived(lifecycle.store, damaged, { at: AT });
      expect(lifecycle.store.archived(damaged)).toBeDefined();
    },
  );

  it('the lifecycle records on NATS are followed again after the server was restarted, with what was lost', async () => {
    await using lifecycle = await following();
    const [kept, lost, late] = [newSession('kept'), newSession('lost'), newSession('late')];
    for (const session of [lost, kept]) await recordArchived(lifecycle.store, session, { at: AT });
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.purge(LIFECYCLE_STREAM, { filter: `$KV.${LIFECYCLE_BUCKET}.${lifecycleKey(lost)}` });
    await opened.nats.server.restart();
    await vi.waitFor(() => expect(lifecycle.store.archived(lost)).toBeUndefined(), 5000);
    expect(lifecycle.store.archived(kept)).toBeDefined();
    // A request lost in the restart is awaited until its timeout.
    await vi.waitFor(() => recordArchived(lifecycle.other, late, { at: AT }), 15_000);
    await vi.waitFor(() => expect(lifecycle.store.archived(late)).toBeDefined(), 2000);
  });

  it('the lifecycle records on NATS make their bucket again where it was deleted', async () => {
    await using lifecycle = await following();
    const session = newSession('remade');
    await recordArchived(lifecycle.store, session, { at: AT });
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.delete(LIFECYCLE_STREAM);
    await expect(recordArchived(lifecycle.store, session, { at: AT })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const another = newSession('remade');
    await recordArchived(lifecycle.store, another, { at: AT });
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
