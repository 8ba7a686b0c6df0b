import { describe, expect, it } from 'vitest';
import { INDEX_BUCKET, indexSubject, type Token } from '../../../src/contracts/names.js';
import type { SessionIndexEntry } from '../../../src/contracts/replies/session-reply.js';
import type { SessionIndex } from '../../../src/engine/ports/session-log.js';
import { sessionFigures } from '../../../src/memory/session/plan-status.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { soon } from '../../support/soon.js';
import { newSession, twoOnNats } from './opened.js';

function entry(session: Token, sequence: number): SessionIndexEntry {
  const figures = sessionFigures(emptyState(session));
  return { v: 1, sequence, at: '2026-01-01T00:00:00.000Z', figures };
}

describe('on NATS', async () => {
  const opened = await twoOnNats();
  const { index } = opened.nats;
  const { index: other } = opened.other;
  const all = async (index: SessionIndex, after = 0) => {
    const found = new Map<string, SessionIndexEntry>();
    let last = after;
    for await (const { entries, through } of index.read(after)) {
      for (const each of entries) found.set(each.figures.session, each);
      last = through;
    }
    return { found, last };
  };

  it('the index of sessions keeps the newest entry of each session', async () => {
    const [one, two] = [newSession('one'), newSession('two')];
    expect(await index.put(entry(one, 3))).toBe('saved');
    expect(await index.put(entry(two, 9))).toBe('saved');
    expect(await other.put(entry(one, 3))).toBe('older');
    expect(await other.put(entry(one, 2))).toBe('older');
    const { found, last } = await all(other);
    expect([found.get(one), found.get(two)]).toEqual([entry(one, 3), entry(two, 9)]);
    expect(await other.put(entry(one, 4))).toBe('saved');
    const newer = await all(index, last);
    expect([...newer.found.values()]).toEqual([entry(one, 4)]);
  });

  it('the index of sessions keeps the newest of what many write at once', async () => {
    const session = newSession('race');
    const written = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? index : other).put(entry(session, at + 1))),
    );
    expect(written).toContain('saved');
    expect((await all(index)).found.get(session)?.sequence).toBe(12);
  });

  it('the index of sessions tells of entries that are written and removed', async () => {
    const session = newSession('watched');
    const heard: unknown[] = [];
    const unwatch = index.watch({
      written: (each) => each.figures.session === session && heard.push(each.sequence),
      removed: (gone) => gone === session && heard.push('removed'),
    });
    // A subscription may take effect after a write on another connection.
    await index.epoch();
    await other.put(entry(session, 1));
    await soon(() => expect(heard).toContain(1));
    await other.remove(session);
    await soon(() => expect(heard).toContain('removed'));
    expect((await all(index)).found.has(session)).toBe(false);
    expect(await other.put(entry(session, 1))).toBe('saved');
    unwatch();
  });

  const bucket = () => opened.nats.connection.jetstream().views.kv(INDEX_BUCKET, { bindOnly: true });
  const jsm = () => opened.nats.connection.jetstreamManager();

  it('the index of sessions keeps an entry as JSON under the name of its session', async () => {
    const session = newSession('json');
    await index.put(entry(session, 1));
    await index.put(entry(session, 2));
    const kv = await bucket();
    expect(JSON.parse((await kv.get(session))?.string() ?? '')).toEqual(entry(session, 2));
    expect((await kv.status()).history).toBe(1);
  });

  it.each(['', 'none', '{}', 'null', '{"v":1}'])(
    'the index of sessions passes over a damaged entry, and replaces it: %j',
    async (text) => {
      const session = newSession('damaged');
      await index.put(entry(session, 5));
      await (await bucket()).put(session, text);
      expect(await other.put(entry(session, 1))).toBe('saved');
    },
  );

  it('the index of sessions leaves nothing of a session that is removed', async () => {
    const session = newSession('gone');
    await index.put(entry(session, 1));
    await index.remove(session);
    const { state } = await (await jsm()).streams.info(`KV_${INDEX_BUCKET}`, {
      subjects_filter: indexSubject(session),
    });
    expect(state.subjects ?? {}).toEqual({});
  });

  it('the index of sessions is made again after it was deleted, under another epoch', async () => {
    const session = newSession('deleted');
    await index.put(entry(session, 1));
    const before = await other.epoch();
    await (await jsm()).streams.delete(`KV_${INDEX_BUCKET}`);
    expect(await other.epoch()).toBeUndefined();
    for await (const _ of other.read(0)) throw new Error('nothing is there');
    await index.remove(session);
    expect(await index.put(entry(session, 1))).toBe('saved');
    expect(await other.epoch()).not.toBe(before);
  });
});
