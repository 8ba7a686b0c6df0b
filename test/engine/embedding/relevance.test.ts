import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { token } from '../../../src/contracts/names.js';
import { HttpEmbedder } from '../../../src/engine/embedding/http-embedder.js';
import {
  createRelevance,
  type Relevance,
  type RelevanceOptions,
} from '../../../src/engine/embedding/relevance.js';
import { Vectoriser } from '../../../src/engine/embedding/vectorizer.js';
import { MemoryVectorStore } from '../../doubles/memory-vector-store.js';
import { type ScriptedEmbedder, scriptedEmbedder } from '../../support/embedders.js';
import {
  type Answer,
  bagVector,
  drop,
  type EmbeddingServer,
  hang,
  startEmbeddingServer,
  status,
  vectors as usualVectors,
} from '../../support/embedding-server.js';
import { learningId, learningOf, mapOf } from '../../support/learning-maps.js';
import { loggedWarnings } from '../../support/logged.js';

const project = token('demo', 'project');
const LIMITS = { maxResults: 5, minSimilarity: 0.2 };

const LEARNINGS = mapOf(
  learningOf(1, 'Validate input once, at the border', ['zod']),
  learningOf(2, 'Retry with a pause and jitter'),
  learningOf(3, 'Commit small steps'),
);

const opened: Relevance[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((relevance) => relevance.stop()));
});

/** Returns a relevance with vectors of all learnings, and its warnings. */
async function withVectors(options: Partial<RelevanceOptions> & { embedder?: ScriptedEmbedder } = {}) {
  const { logger, warnings } = loggedWarnings();
  const embedder = options.embedder ?? scriptedEmbedder();
  const vectors = options.vectors ?? new MemoryVectorStore();
  for (const { id, content: text } of LEARNINGS.values()) {
    const vector = bagVector(text, embedder.dimension);
    await vectors.put(project, token(id, 'learning'), { model: embedder.model, text, vector });
  }
  const relevance = createRelevance({ logger, deadlineMs: 5000, ...options, embedder, vectors });
  opened.push(relevance);
  const find = (query: string, learnings = LEARNINGS, limits = LIMITS) =>
    relevance.find(project, learnings, query, limits);
  return { relevance, embedder, vectors, warnings, find };
}

const numbersOf = ({ ranked }: Awaited<ReturnType<Relevance['find']>>) =>
  ranked.map(({ learning }) => Number.parseInt(learning.id, 16));

describe('relevance', () => {
  it('relevance goes by words and meaning where vectors are available, and gives the cosine of what meaning found', async () => {
    const { find } = await withVectors();
    const found = await find('retry, with jitter');
    expect(found.method).toBe('hybrid');
    expect(found.ranked[0]).toMatchObject({ learning: { id: learningId(2) }, score: 1 });
    expect(found.ranked[0]?.similarity).toBeGreaterThan(0.5);
    for (const { similarity = 1 } of found.ranked)
      expect(similarity).toBeGreaterThanOrEqual(LIMITS.minSimilarity);
  });

  it('relevance counts a learning that words alone find beside those that meaning finds, and the other way round', async () => {
    const { find } = await withVectors();
    const more = mapOf(...LEARNINGS.values(), learningOf(4, 'Jitter needs a seed'));
    const both = await find('retry with a pause and jitter', more);
    expect(both.method).toBe('hybrid');
    expect(numbersOf(both).slice(0, 2)).toEqual([2, 4]);
    expect(both.ranked[1]).not.toHaveProperty('similarity');
    // These words are ignored by the word index, but contribute to the vector.
    const meant = await find('a and with');
    expect([meant.method, numbersOf(meant)[0]]).toEqual(['semantic', 2]);
    expect(meant.ranked[0]?.score).toBe(0.5);
  });

  it('relevance is lexical when nothing is close enough, and takes the newest when no word fits either', async () => {
    const { find } = await withVectors();
    const strict = { maxResults: 2, minSimilarity: 0.99 };
    expect(await find('how to retry', LEARNINGS, strict)).toMatchObject({ method: 'lexical', ranked: [{}] });
    const recent = await find('zeppelin', LEARNINGS, strict);
    expect(recent).toEqual({
      method: 'recency',
      ranked: [3, 2].map((n) => ({ learning: LEARNINGS.get(learningId(n)), score: 0 })),
    });
  });

  it('relevance is lexical without an embedder, and reads no vectors then', async () => {
    const { logger, warnings } = loggedWarnings();
    const vectors = new MemoryVectorStore();
    vectors.read = () => Promise.reject(new Error('read'));
    const relevance = createRelevance({ vectors, embedder: undefined, logger });
    const found = await relevance.find(project, LEARNINGS, 'zod', LIMITS);
    expect([found.method, numbersOf(found)]).toEqual(['lexical', [1]]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['', 0],
    ['   ', 0],
    ['zeppelin', 1],
  ])(
    'relevance gives the newest for %j, and asks for a vector only where there are words',
    async (query, asked) => {
      const { find, embedder } = await withVectors();
      const found = await find(query, LEARNINGS, { maxResults: 5, minSimilarity: 1 });
      expect([found.method, numbersOf(found)]).toEqual(['recency', [3, 2, 1]]);
      expect(embedder.calls).toHaveLength(asked);
    },
  );

  it('relevance gives nothing, and asks nothing, where there are no learnings', async () => {
    const { find, embedder } = await withVectors();
    expect(await find('retry', mapOf())).toEqual({ method: 'recency', ranked: [] });
    expect(embedder.calls).toEqual([]);
  });

  it('relevance embeds no query while no learning in force has a vector', async () => {
    const { find, embedder } = await withVectors();
    expect((await find('retry', mapOf(learningOf(9, 'retry a stream')))).method).toBe('lexical');
    expect(embedder.calls).toEqual([]);
  });

  it('relevance does not find an edited learning by its old vector, nor one that is out of force', async () => {
    const { find } = await withVectors();
    await find('retry');
    const edited = mapOf(learningOf(2, 'Ask before you delete'), learningOf(3, 'Commit small steps'));
    const found = await find('retry with a pause commit', edited);
    expect([found.method, numbersOf(found)]).toEqual(['hybrid', [3]]);
  });

  it('relevance sees vectors that other processes store later', async () => {
    const { find, vectors, embedder } = await withVectors();
    const more = mapOf(...LEARNINGS.values(), learningOf(4, 'retry'));
    const of4 = async () =>
      (await find('retry', more)).ranked.find(({ learning }) => learning.id === learningId(4));
    expect(await of4()).not.toHaveProperty('similarity');
    const vector = bagVector('retry', embedder.dimension);
    await vectors.put(project, learningId(4), { model: embedder.model, text: 'retry', vector });
    expect(await of4()).toMatchObject({ score: 1, similarity: expect.closeTo(1) });
  });

  it('relevance is lexical when the query comes in another dimension than the vectors', async () => {
    const { find, embedder } = await withVectors();
    embedder.dimension = 32;
    expect((await find('retry')).method).toBe('lexical');
  });

  it('relevance says so when no learning has the dimension of a query, so that all vectors are computed again', async () => {
    const { find, relevance, embedder, warnings } = await withVectors();
    const told: unknown[] = [];
    relevance.onExchanged((...what) => told.push(what));
    await find('retry');
    expect(told).toEqual([]);
    embedder.dimension = 32;
    await find('commit');
    expect(told).toEqual([[project, 32]]);
    expect(warnings).toMatchObject([
      { message: expect.stringContaining('dimension'), fields: { dimension: 32 } },
    ]);
  });

  it('relevance embeds a query once, however many ask for it at once or later', async () => {
    const { find, embedder } = await withVectors();
    const all = await Promise.all(Array.from({ length: 20 }, () => find('retry')));
    expect(new Set(all.map(({ method }) => method))).toEqual(new Set(['hybrid']));
    await find('retry');
    expect(embedder.calls).toEqual([['retry']]);
  });

  it('relevance keeps the vectors of the queries used last', async () => {
    const { find, embedder } = await withVectors({ cacheSize: 2 });
    for (const query of ['retry', 'commit', 'retry', 'input', 'retry', 'commit']) await find(query);
    expect(embedder.calls.flat()).toEqual(['retry', 'commit', 'input', 'commit']);
  });

  it('relevance keeps the indexes of the projects used last, and reads others again', async () => {
    const vectors = new MemoryVectorStore();
    const { relevance, find } = await withVectors({ vectors, maxProjects: 1 });
    await find('retry');
    await relevance.find(token('other', 'project'), LEARNINGS, 'retry', LIMITS);
    expect((await find('retry')).method).toBe('hybrid');
  });

  it('relevance embeds no more of a query than its beginning, and never half a character', async () => {
    const { find, embedder } = await withVectors();
    await find(`${'x'.repeat(1999)}😀`);
    expect(embedder.calls[0]?.[0]).toHaveLength(2000);
    expect(embedder.calls[0]?.[0]?.isWellFormed()).toBe(true);
  });

  it('relevance answers by words at the deadline; the late answer serves the next', async () => {
    const { find, embedder, warnings } = await withVectors({ deadlineMs: 30 });
    let release = () => {};
    embedder.before = () => new Promise((resolve) => (release = resolve));
    expect((await find('retry')).method).toBe('lexical');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('timed out') }]);
    release();
    await expect.poll(async () => (await find('retry')).method).toBe('hybrid');
    expect(embedder.calls).toHaveLength(1);
  });

  it('relevance does not gather queries without end while the embedder hangs', async () => {
    const { find, relevance, embedder } = await withVectors({ deadlineMs: 5 });
    embedder.before = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('stopped')));
      });
    for (let n = 0; n < 20; n += 1) expect((await find(`retry ${n}`)).method).toBe('lexical');
    expect(embedder.calls).toHaveLength(8);
    await relevance.stop();
  });

  it('relevance answers by words when the embedder or the store fails, and warns once a minute', async () => {
    let now = 0;
    const { find, embedder, vectors, warnings } = await withVectors({ now: () => now });
    await find('commit');
    embedder.before = () => Promise.reject(new ThroughlineError('unavailable', 'no model'));
    for (let n = 0; n < 5; n += 1) expect((await find(`retry ${n}`)).method).toBe('lexical');
    expect(warnings).toHaveLength(1);
    now = 60_000;
    await find('retry again');
    expect(warnings[1]?.fields).toMatchObject({ silent: 4 });
    vectors.read = () => Promise.reject(new ThroughlineError('unavailable', 'no store'));
    // Known vectors are still used.
    expect((await find('commit')).method).toBe('hybrid');
    expect(warnings).toHaveLength(3);
  });
});

describe('relevance on an endpoint', () => {
  let server: EmbeddingServer;
  beforeEach(async () => {
    server = await startEmbeddingServer();
  });
  afterEach(() => server.stop());

  async function onEndpoint(timeoutMs = 5000) {
    const { logger, warnings } = loggedWarnings();
    const options = {
      kind: 'http',
      url: server.url,
      model: 'bag',
      key: 'sk-secret',
      batch: 2,
      timeoutMs,
    } as const;
    const embedder = new HttpEmbedder(options);
    const vectors = new MemoryVectorStore();
    const vectoriser = new Vectoriser({ vectors, embedder, logger, pauseMs: 1, maxPauseMs: 5 });
    const relevance = createRelevance({ vectors, embedder, logger, deadlineMs: 150 });
    const find = () => relevance.find(project, LEARNINGS, 'retry with jitter', LIMITS);
    const close = async () => {
      await vectoriser.stop();
      await relevance.stop();
      await embedder.close();
    };
    return { vectoriser, find, warnings, close };
  }

  it('relevance on an endpoint goes by meaning as well once the learnings have their vectors', async () => {
    const { vectoriser, find, close } = await onEndpoint();
    expect((await find()).method).toBe('lexical');
    vectoriser.sync(project, LEARNINGS);
    await vectoriser.idle(project);
    // On a busy machine the first may time out.
    await expect.poll(async () => (await find()).method).toBe('hybrid');
    expect(numbersOf(await find())[0]).toBe(2);
    await close();
  });

  it.each<[string, Answer]>([
    ['fails', status(500)],
    ['refuses the key', status(401, 'sk-secret is wrong')],
    ['asks to wait', status(429, '', { 'retry-after': '60' })],
    ['hangs', hang],
    ['drops the connection', drop],
    ['answers in another dimension', usualVectors((items) => items, 12)],
    ['answers with too few', usualVectors(() => [])],
  ])(
    'relevance is lexical, within its deadline, while the endpoint %s, and by meaning again after',
    async (_, answer) => {
      const { vectoriser, find, warnings, close } = await onEndpoint(400);
      vectoriser.sync(project, LEARNINGS);
      await vectoriser.idle(project);
      server.always(answer);
      const found = await find();
      expect([found.method, numbersOf(found)]).toEqual(['lexical', [2]]);
      expect(JSON.stringify(warnings.map(({ fields }) => Object.values(fields).map(String)))).not.toContain(
        'sk-secret',
      );
      server.always(usualVectors());
      await expect.poll(async () => (await find()).method, { timeout: 5000 }).toBe('hybrid');
      await close();
    },
  );

  it('relevance recovers from an endpoint that fails while vectors are computed', async () => {
    const { vectoriser, find, close } = await onEndpoint(200);
    server.next(
      status(503),
      status(503),
      hang,
      drop,
      status(429),
      usualVectors(() => []),
      status(400),
    );
    vectoriser.sync(project, LEARNINGS);
    await vectoriser.idle(project);
    await expect.poll(async () => (await find()).method).toBe('hybrid');
    await close();
  });
});
