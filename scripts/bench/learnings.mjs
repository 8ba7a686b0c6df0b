// Finding the relevant ones of 5,000 learnings: by meaning, with 384-dimension vectors read from NATS and the query's
// vector in the cache, and by words.
import { token } from '../../dist/contracts/names.js';
import { createRelevance } from '../../dist/engine/embedding/relevance.js';
import { silentLogger } from '../../dist/engine/ports/clients.js';
import { LexicalIndex } from '../../dist/memory/learnings/lexical-index.js';
import { VectorIndex } from '../../dist/memory/learnings/vector-index.js';
import { openPorts, startServer } from './host.mjs';
import { median, quantile } from './stats.mjs';

const LEARNINGS = 5000;
const DIMENSION = 384;
const GOAL_MS = 5;
const LIMITS = { maxResults: 5, minSimilarity: 0.2 };

/** The same numbers in every run. */
let seed = 42;
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

/** Words as they occur in texts: few often, most seldom. */
function someWords(count) {
  return Array.from({ length: count }, () => `word${Math.floor(3000 * random() ** 3)}`).join(' ');
}

function someVector() {
  return Float32Array.from({ length: DIMENSION }, () => random() - 0.5);
}

const learnings = new Map(
  Array.from({ length: LEARNINGS }, (_, n) => {
    const id = n.toString(16).padStart(12, '0');
    const at = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
    const content = someWords(18);
    const tags = [someWords(1), someWords(1)];
    const learning = {
      id,
      type: 'pattern',
      content,
      tags,
      source: {},
      evidence: [],
      extractedAt: at,
      confirmedAt: at,
    };
    return [id, learning];
  }),
);
const ids = [...learnings.keys()];
const vectorOf = new Map(ids.map((id) => [id, someVector()]));

/** What a query of these words comes out as: close to some learnings, as real ones are. */
const embedder = {
  model: 'bench',
  async embed(texts) {
    return texts.map(() => {
      const near = vectorOf.get(ids[Math.floor(random() * ids.length)]);
      return near.map((value) => value + (random() - 0.5) * 0.5);
    });
  },
  async close() {},
};

const goal = (id, work) => ({ id, work, against: 'an absolute limit', atMost: GOAL_MS, unit: 'ms' });

export default {
  name: 'learnings',
  goals: [
    goal(
      'learnings.semantic',
      'learnings: 5,000 of 384 dimensions, by words and meaning, query vector in the cache: p50',
    ),
    goal('learnings.lexical', 'learnings: 5,000, by words, query of 150 words: p50'),
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const runs = quick ? 100 : 1000;
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const figures = [];
  const figure = (name, times) => {
    const [p50, p99] = [median(times), quantile(times, 0.99)].map((ms) => ms.toFixed(2));
    figures.push({ name, text: `p50 ${p50} ms, p99 ${p99} ms, n ${times.length}` });
    progress(name);
    return median(times);
  };
  const project = token('bench', 'project');
  for (let from = 0; from < ids.length; from += 500) {
    const writes = ids.slice(from, from + 500).map((id) => {
      const stored = { model: embedder.model, text: learnings.get(id).content, vector: vectorOf.get(id) };
      return nats.vectors.put(project, token(id, 'learning'), stored);
    });
    await Promise.all(writes);
  }
  const started = (options = {}) =>
    createRelevance({
      vectors: nats.vectors,
      embedder,
      logger: silentLogger,
      deadlineMs: 60_000,
      ...options,
    });
  const find = (relevance, query) => relevance.find(project, learnings, query, LIMITS);

  const cold = await timed(quick ? 2 : 5, async () =>
    expectMethod(await find(started(), someWords(60)), 'hybrid'),
  );
  figure('first query: all vectors read and indexed', cold);

  const queries = Array.from({ length: 20 }, (_, n) => someWords(n % 2 === 0 ? 12 : 150));
  const semantic = started();
  for (const query of queries) expectMethod(await find(semantic, query), 'hybrid');
  const warm = await timed(runs, async (run) =>
    expectMethod(await find(semantic, queries[run % queries.length]), 'hybrid'),
  );
  const bySemantics = figure('hybrid, query vector in the cache', warm);

  const lexical = started({ embedder: undefined });
  for (const query of queries) expectMethod(await find(lexical, query), 'lexical');
  let byWords;
  for (const length of [12, 60, 150]) {
    const times = await timed(runs, async () =>
      expectMethod(await find(lexical, someWords(length)), 'lexical'),
    );
    byWords = figure(`lexical, query of ${length} words`, times);
  }

  const vectorIndex = new VectorIndex(embedder.model);
  vectorIndex.sync(learnings);
  for (const id of ids) {
    vectorIndex.put(id, { model: embedder.model, text: learnings.get(id).content, vector: vectorOf.get(id) });
  }
  figure('the vector index alone', await timed(runs, () => vectorIndex.search(someVector(), LIMITS)));
  const lexicalIndex = new LexicalIndex();
  figure('indexing all words', await timed(1, () => lexicalIndex.sync(learnings)));

  return { measured: { 'learnings.semantic': bySemantics, 'learnings.lexical': byWords }, figures };
}

async function timed(runs, work) {
  const times = [];
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now();
    await work(run);
    times.push(performance.now() - began);
  }
  return times;
}

function expectMethod(found, method) {
  if (found.method !== method) throw new Error(`it was found by ${found.method}, not ${method}`);
  if (found.ranked.length === 0) throw new Error('nothing was found');
}
