import type { KV } from 'nats';
import { describe, expect, it } from 'vitest';
import { VECTOR_BUCKET } from '../../../src/contracts/names.js';
import { MemoryVectorStore } from '../../doubles/memory-vector-store.js';
import { learningId } from '../../support/learning-maps.js';
import { newSession, twoOnNats } from './opened.js';
import { vectorStoreContract } from './vector-store.contract.js';

vectorStoreContract('in memory', async () => {
  const store = new MemoryVectorStore();
  return { store, other: store, close: async () => {} };
});

describe('on NATS', () => {
  const opened = twoOnNats();

  vectorStoreContract('on NATS', async () => ({
    store: opened.nats.vectors,
    other: opened.other.vectors,
    close: async () => {},
  }));

  const bucket = (): Promise<KV> =>
    opened.nats.connection.jetstream().views.kv(VECTOR_BUCKET, { bindOnly: true });
  const one = { model: 'm', text: 'one', vector: Float32Array.of(1, -0.5) };

  it('the vector store on NATS keeps each vector as JSON on one line under project and learning', async () => {
    const project = newSession('project');
    await opened.nats.vectors.put(project, learningId(1), one);
    const kv = await bucket();
    expect((await kv.get(`${project}.${learningId(1)}`))?.string()).toBe(
      '{"model":"m","dimension":2,"text":"one","vector":"AACAPwAAAL8="}',
    );
    expect((await kv.status()).history).toBe(1);
  });

  it.each([
    '',
    'no vector',
    '{}',
    'null',
    '{"model":"m","dimension":3,"text":"one","vector":"AACAPwAAAL8="}',
    '{"model":"m","dimension":2,"text":"one","vector":"AACAPwAAAL"}',
    '{"model":"m","dimension":0,"text":"one","vector":""}',
  ])('the vector store on NATS leaves out a damaged value, and reads on: %j', async (text) => {
    const project = newSession('project');
    await opened.nats.vectors.put(project, learningId(1), one);
    const kv = await bucket();
    const revision = await kv.put(`${project}.${learningId(2)}`, text);
    expect(await opened.other.vectors.read(project, 0)).toEqual({
      vectors: [{ learning: learningId(1), ...one }],
      through: revision,
    });
  });

  it.each(['delete', 'purge'] as const)(
    'the vector store on NATS leaves out what was removed by a %s',
    async (remove) => {
      const project = newSession('project');
      await opened.nats.vectors.put(project, learningId(1), one);
      await (await bucket())[remove](`${project}.${learningId(1)}`);
      expect((await opened.other.vectors.read(project, 0)).vectors).toEqual([]);
    },
  );

  it('the vector store on NATS reads what is new in one request', async () => {
    const project = newSession('project');
    await opened.nats.vectors.put(project, learningId(1), one);
    const { through } = await opened.nats.vectors.read(project, 0);
    const before = opened.nats.connection.stats().outMsgs;
    await opened.nats.vectors.read(project, through);
    // Subscribing and unsubscribing do not count as messages.
    expect(opened.nats.connection.stats().outMsgs - before).toBe(1);
  });

  it('the vector store on NATS makes the bucket with the first vector, and again when it was deleted', async () => {
    const project = newSession('project');
    await opened.nats.vectors.put(project, learningId(1), one);
    const { through } = await opened.other.vectors.read(project, 0);
    const epoch = await opened.other.vectors.epoch();
    await (await bucket()).destroy();
    expect(await opened.other.vectors.epoch()).toBeUndefined();
    expect(await opened.other.vectors.read(project, 0)).toEqual({ vectors: [], through: 0 });
    await opened.nats.vectors.put(project, learningId(1), one);
    // Also for readers of the previous vector.
    expect((await opened.other.vectors.read(project, through)).vectors).toHaveLength(1);
    expect(await opened.other.vectors.epoch()).not.toBe(epoch);
  });
});
