import { describe, expect, it } from 'vitest';
import { INDEX_BUCKET, indexSubject } from '../../../src/contracts/names.js';
import { MemorySessionIndex } from '../../doubles/memory-session-index.js';
import { newSession, twoOnNats } from './opened.js';
import { entry, sessionIndexContract } from './session-index.contract.js';

const memory = new MemorySessionIndex();
sessionIndexContract('in memory', () => ({ index: memory, other: memory }));

describe('on NATS', async () => {
  const opened = await twoOnNats();

  sessionIndexContract('on NATS', () => ({ index: opened.nats.index, other: opened.other.index }));

  const bucket = () => opened.nats.connection.jetstream().views.kv(INDEX_BUCKET, { bindOnly: true });
  const jsm = () => opened.nats.connection.jetstreamManager();

  it('the index of sessions on NATS keeps an entry as JSON under the name of its session', async () => {
    const session = newSession('json');
    await opened.nats.index.put(entry(session, 1));
    await opened.nats.index.put(entry(session, 2));
    const kv = await bucket();
    expect(JSON.parse((await kv.get(session))?.string() ?? '')).toEqual(entry(session, 2));
    expect((await kv.status()).history).toBe(1);
  });

  it.each(['', 'none', '{}', 'null', '{"v":1}'])(
    'the index of sessions on NATS passes over a damaged entry, and replaces it: %j',
    async (text) => {
      const session = newSession('damaged');
      await opened.nats.index.put(entry(session, 5));
      await (await bucket()).put(session, text);
      expect(await opened.other.index.put(entry(session, 1))).toBe('saved');
    },
  );

  it('the index of sessions on NATS leaves nothing of a session that is removed', async () => {
    const session = newSession('gone');
    await opened.nats.index.put(entry(session, 1));
    await opened.nats.index.remove(session);
    const { state } = await (await jsm()).streams.info(`KV_${INDEX_BUCKET}`, {
      subjects_filter: indexSubject(session),
    });
    expect(state.subjects ?? {}).toEqual({});
  });

  it('the index of sessions on NATS is made again after it was deleted, under another epoch', async () => {
    const session = newSession('deleted');
    await opened.nats.index.put(entry(session, 1));
    const before = await opened.other.index.epoch();
    await (await jsm()).streams.delete(`KV_${INDEX_BUCKET}`);
    expect(await opened.other.index.epoch()).toBeUndefined();
    for await (const _ of opened.other.index.read(0)) throw new Error('nothing is there');
    await opened.nats.index.remove(session);
    expect(await opened.nats.index.put(entry(session, 1))).toBe('saved');
    expect(await opened.other.index.epoch()).not.toBe(before);
  });
});
