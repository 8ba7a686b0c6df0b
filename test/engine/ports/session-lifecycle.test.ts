import { describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { LIFECYCLE_BUCKET, lifecycleKey, type Token } from '../../../src/contracts/names.js';
import { LIFECYCLE_STREAM } from '../../../src/nats/stores/kv-bucket.js';
import { recordArchived, recordForgotten } from '../../support/lifecycle-records.js';
import { afterTest, ofFile } from '../../support/of-file.js';
import { newSession, startPrivatePorts, withOther } from './opened.js';

const AT = '2026-01-31T12:00:00.000Z';
const LATER = '2026-02-01T12:00:00.000Z';

describe('on NATS', async () => {
  const opened = await withOther(await ofFile(startPrivatePorts()));

  const store = await ofFile(opened.nats.openLifecycle());
  const other = await ofFile(opened.other.openLifecycle());
  const reopened = async () => {
    const lifecycle = await opened.other.openLifecycle();
    afterTest(() => lifecycle.close());
    return lifecycle;
  };
  /** Waits a second, plus the time the machine needs for the answer itself. */
  const soon = (check: () => void) => vi.waitFor(check, { timeout: 2000, interval: 10 });

  it('the lifecycle records hold nothing of most sessions', async () => {
    const session = newSession('none');
    expect(store.archived(session)).toBeUndefined();
    expect(store.forgotten(session)).toBeUndefined();
    await recordArchived(store, session, undefined);
    expect(other.archived(session)).toBeUndefined();
  });

  it('an archived session is known at once here, soon elsewhere, and to a process that starts', async () => {
    const session = newSession('archived');
    const archived = { at: AT, reason: 'the work is "done"\n✓' };
    await recordArchived(store, session, { ...archived, pending: true });
    expect(store.archiving()).toContain(session);
    expect(await recordArchived(store, session, archived)).toMatchObject({ archived });
    expect(store.archived(session)).toEqual(archived);
    expect(store.archiving()).not.toContain(session);
    await soon(() => expect(other.archived(session)).toEqual(archived));
    expect((await reopened()).archived(session)).toEqual(archived);
    await recordArchived(other, session, undefined);
    expect(other.archived(session)).toBeUndefined();
    await soon(() => expect(store.archived(session)).toBeUndefined());
    expect((await reopened()).archived(session)).toBeUndefined();
    await recordArchived(store, session, { at: LATER });
    await soon(() => expect(other.archived(session)).toEqual({ at: LATER }));
  });

  it('a forgotten session is told until nothing of it is left, and its tombstone stays when its name is used again', async () => {
    const session = newSession('forgotten');
    const told: Token[] = [];
    const unlisten = other.onForgotten((each) => told.push(each));
    await recordArchived(store, session, { at: AT });
    const record = { status: 'forgetting', at: AT, dispatches: 10, sequence: 20 } as const;
    await recordForgotten(store, session, record);
    expect(store.archived(session)).toBeUndefined();
    expect(store.forgotten(session)).toEqual(record);
    expect(store.unfinished()).toContain(session);
    await soon(() => expect(other.forgotten(session)).toEqual(record));
    const started = await reopened();
    expect(started.archived(session)).toBeUndefined();
    expect(started.unfinished()).toContain(session);
    const done = { ...record, status: 'forgotten', at: LATER } as const;
    await recordForgotten(other, session, done);
    expect(other.forgotten(session)).toEqual(done);
    await soon(() => expect(store.forgotten(session)).toEqual(done));
    expect(store.unfinished()).not.toContain(session);
    expect(told).toEqual([session, session]);
    unlisten();
    await recordArchived(store, session, { at: LATER });
    await soon(() => expect(other.archived(session)).toEqual({ at: LATER }));
    expect(other.forgotten(session)).toEqual(done);
  });

  it('a change that throws, or returns the record that is there, changes nothing', async () => {
    const session = newSession('kept');
    const fault = new ThroughlineError('session_forgotten', 'not now');
    await recordArchived(store, session, { at: AT });
    const refused = other.change(session, () => {
      throw fault;
    });
    await expect(refused).rejects.toBe(fault);
    expect(await other.change(session, (there) => there)).toMatchObject({ archived: { at: AT } });
    expect((await reopened()).archived(session)).toEqual({ at: AT });
  });

  it('of several processes that change the record of one session at once, none undoes what another has done', async () => {
    const session = newSession('changed');
    const letters = [...'abcdefghijkl'];
    await Promise.all(
      letters.map((letter, index) =>
        (index % 2 === 0 ? store : other).change(session, ({ archived }) => ({
          archived: { at: AT, reason: `${archived?.reason ?? ''}${letter}` },
        })),
      ),
    );
    for (const seen of [store, other])
      await soon(() => expect([...(seen.archived(session)?.reason ?? '')].sort()).toEqual(letters));
  });

  const bucket = () => opened.nats.connection.jetstream().views.kv(LIFECYCLE_BUCKET, { bindOnly: true });

  it('the lifecycle records on NATS are JSON, and the name of a forgotten session goes', async () => {
    const session = newSession('json');
    await recordArchived(store, session, { at: AT, reason: 'done' });
    const kv = await bucket();
    expect((await kv.get(lifecycleKey(session)))?.json()).toEqual({
      v: 1,
      session,
      archived: { at: AT, reason: 'done' },
    });
    await recordForgotten(store, session, { at: AT, dispatches: 3, sequence: 4 });
    await recordForgotten(store, session, {
      status: 'forgotten',
      at: AT,
      dispatches: 3,
      sequence: 4,
    });
    expect((await kv.get(lifecycleKey(session)))?.string()).not.toContain(session);
  });

  it('the server expires the record of a session that was forgotten a week ago, and no other', async () => {
    const jsm = await opened.nats.connection.jetstreamManager();
    const ttlOf = async (session: Token) => {
      const subject = `$KV.${LIFECYCLE_BUCKET}.${lifecycleKey(session)}`;
      return (await jsm.streams.getMessage(LIFECYCLE_STREAM, { last_by_subj: subject })).header.get(
        'Nats-TTL',
      );
    };
    const session = newSession('ttl');
    await recordForgotten(store, session, { at: AT });
    expect(await ttlOf(session)).toBe('');
    await recordForgotten(store, session, { status: 'forgotten', at: AT });
    expect(await ttlOf(session)).toBe('604800s');
    await recordArchived(store, session, { at: AT });
    expect(await ttlOf(session)).toBe('');
  });

  it.each(['', 'none', '{}', 'null', `{"v":2,"archived":{"at":"${AT}"}}`])(
    'the lifecycle records on NATS pass over a damaged value, and read on: %j',
    async (text) => {
      const [damaged, session] = [newSession('damaged'), newSession('after')];
      await recordArchived(store, session, { at: AT });
      await recordArchived(store, session, undefined);
      const kv = await bucket();
      await kv.put(lifecycleKey(damaged), text);
      const record = JSON.stringify({ v: 1, session, archived: { at: AT } });
      // A record under the key of another session does not apply to it.
      await kv.put(lifecycleKey(newSession('other')), record);
      await kv.put(lifecycleKey(session), record);
      await vi.waitFor(() => expect(store.archived(session)).toBeDefined(), 2000);
      expect(store.archived(damaged)).toBeUndefined();
      await recordArchived(store, damaged, { at: AT });
      expect(store.archived(damaged)).toBeDefined();
    },
  );

  it('the lifecycle records on NATS are followed again after the server was restarted, with what was lost', async () => {
    const [kept, lost, late] = [newSession('kept'), newSession('lost'), newSession('late')];
    for (const session of [lost, kept]) await recordArchived(store, session, { at: AT });
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.purge(LIFECYCLE_STREAM, { filter: `$KV.${LIFECYCLE_BUCKET}.${lifecycleKey(lost)}` });
    await opened.nats.server.restart();
    await vi.waitFor(() => expect(store.archived(lost)).toBeUndefined(), 5000);
    expect(store.archived(kept)).toBeDefined();
    // A request lost in the restart is awaited until its timeout.
    await vi.waitFor(() => recordArchived(other, late, { at: AT }), 15_000);
    await vi.waitFor(() => expect(store.archived(late)).toBeDefined(), 2000);
  });

  it('the lifecycle records on NATS make their bucket again where it was deleted', async () => {
    const session = newSession('remade');
    await recordArchived(store, session, { at: AT });
    const jsm = await opened.nats.connection.jetstreamManager();
    await jsm.streams.delete(LIFECYCLE_STREAM);
    await expect(recordArchived(store, session, { at: AT })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const another = newSession('remade');
    await recordArchived(store, another, { at: AT });
    await vi.waitFor(() => expect(other.archived(another)).toBeDefined(), 2000);
  });
});
