// Finding the relevant ones of 5,000 learnings, by words and by meaning.
import { readFileSync } from 'node:fs';
import { lexicalSearch, relevantLearnings } from '../../dist/memory/learnings/relevant-learnings.js';
import { WordVectors } from '../../dist/memory/search/word-vectors.js';
import { median, quantile } from './stats.mjs';

const LEARNINGS = 5000;
const GOAL_MS = 5;
const LIMITS = { maxResults: 5, minSimilarity: 0.2 };
const TABLE = new URL('../../dist/words/word-vectors.bin', import.meta.url);
const HISTORY = new URL('../eval/history/hono.jsonl', import.meta.url);
const WORDS = readFileSync(HISTORY, 'utf8')
  .trimEnd()
  .split('\n')
  .flatMap((line) => JSON.parse(line).subject.match(/[a-z]{3,}/g) ?? []);

/** The same numbers in every run. */
let seed = 42;
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

/** Words as they occur in texts: few often, most seldom. */
function someWords(count) {
  return Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
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

const goal = (id, work) => ({ id, work, against: 'an absolute limit', atMost: GOAL_MS, unit: 'ms' });

export default {
  name: 'learnings',
  goals: [
    goal('learnings.semantic', 'learnings: 5,000, by words and meaning: p50'),
    goal('learnings.lexical', 'learnings: 5,000, by words, query of 150 words: p50'),
  ],
  run,
};

async function run({ quick, progress }) {
  const runs = quick ? 100 : 1000;
  const figures = [];
  const figure = (name, times) => {
    const [p50, p99] = [median(times), quantile(times, 0.99)].map((ms) => ms.toFixed(2));
    figures.push({ name, text: `p50 ${p50} ms, p99 ${p99} ms, n ${times.length}` });
    progress(name);
    return median(times);
  };
  const words = new WordVectors(readFileSync(TABLE));
  figure(
    'indexing all words',
    timed(1, () => lexicalSearch(learnings, someWords(1), 1)),
  );
  const find = (query, method, table) => {
    const found = relevantLearnings(table, learnings, query, LIMITS);
    if (found.method !== method) throw new Error(`it was found by ${found.method}, not ${method}`);
  };
  figure(
    'first query: all vectors are made',
    timed(1, () => find(someWords(60), 'hybrid', words)),
  );
  const bySemantics = figure(
    'hybrid',
    timed(runs, (run) => find(someWords(run % 2 === 0 ? 12 : 150), 'hybrid', words)),
  );
  let byWords;
  for (const length of [12, 60, 150])
    byWords = figure(
      `lexical, query of ${length} words`,
      timed(runs, () => find(someWords(length), 'lexical', undefined)),
    );
  return { measured: { 'learnings.semantic': bySemantics, 'learnings.lexical': byWords }, figures };
}

function timed(runs, work) {
  const times = [];
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now();
    work(run);
    times.push(performance.now() - began);
  }
  return times;
}
