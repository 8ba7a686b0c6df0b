// Replays the history of a project as a session: each commit is a result. Before each, the prompt for it is compiled, and
// compared with what the commit then touched. What is measured comes in as `product`, from a build or from the sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lasting, PLANTS, results } from './plants.mjs';

/** Commits before the first that is asked for. */
const WARM_UP = 50;
/** Of so many commits one is asked for its facts. */
const EVERY = 5;
/** Files that most commits touch, whatever they are about. */
const BUSY = /lock|package\.json|CHANGELOG|go\.(mod|sum)/i;
/** Files that tools write, which no prompt offers. */
const LOCK = /(?:[.-]lock(?:\.json|\.yaml|b)?|go\.sum)$/i;
/** Share of the files of a past commit that the next one touches, from which it is more than a sweep that met one of them. */
const FOCUSED = 0.2;
/** Prompts with less and more in them. */
const ROOMS = {
  'the best ten facts': { maxFacts: 10 },
  'what helps (default)': {},
};
/** Commits of a history, the newest. */
const COMMITS = 800;
const MAX_FILES = 20;

/** The modules that a replay needs, from a folder that holds a build. */
export async function productIn(dist) {
  const load = (path) => import(new URL(path, dist));
  const [compiler, requests, evolving, states, facts, worker, search, vectors] = await Promise.all([
    load('prompt/compile-prompt.js'),
    load('contracts/compile-request.js'),
    load('memory/session/evolve-session.js'),
    load('memory/session/session-state.js'),
    load('memory/facts/fact-extractor.js'),
    load('services/extractor/extractor-worker.js'),
    load('memory/search/tokens.js'),
    // A version without them orders by words alone.
    load('memory/search/word-vectors.js').catch(() => undefined),
  ]);
  const rules = new facts.RuleBasedFactExtractor();
  const words = vectors && new vectors.WordVectors(readFileSync(new URL('words/word-vectors.bin', dist)));
  return {
    emptyState: states.emptyState,
    factsOf: states.factsOf,
    evolve: evolving.evolve,
    compile: (state, request) =>
      compiler.compilePrompt(state, requests.compileRequest.parse(request), undefined, undefined, words),
    event: (origin, returned) => worker.recordedEvent(origin, returned, rules),
    tokens: search.tokens,
  };
}

/** Histories of a folder by name: one JSON object a line, `{sha, subject, files}`, oldest first. */
export function historiesIn(folder) {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort();
  return names.map((name) => {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    const commits = lines.map((line) => JSON.parse(line)).filter(({ files }) => files.length <= MAX_FILES);
    return { name: name.replace('.jsonl', ''), commits: commits.slice(-COMMITS) };
  });
}

/** A session that results are told to, one after the other. */
export function session(product) {
  const state = product.emptyState('eval');
  let sequence = 0;
  const tell = (returned, happened) => {
    sequence += 1;
    const at = new Date(happened ?? Date.UTC(2026, 0, 1) + sequence * 60_000).toISOString();
    product.evolve(state, { sequence, event: product.event({ sequence, at }, returned) });
  };
  return { state, tell };
}

export function resultOf({ sha, subject, files }) {
  const result = { task_id: sha, status: 'completed', summary: subject, files_modified: files };
  return { role: 'implementer', result };
}

/** How well the prompts of one history show the files that its commits then touched. */
export function measureFiles(product, { name, commits }) {
  const { state, tell } = session(product);
  const known = new Set();
  const found = { 5: [], 10: [], 20: [] };
  const ranks = [];
  const tokens = { whole: [], ten: [] };
  const times = [];
  for (const [index, commit] of commits.entries()) {
    const relevant =
      index < WARM_UP ? [] : commit.files.filter((file) => known.has(file) && !LOCK.test(file));
    if (relevant.length > 0) {
      const request = { session: 'eval', taskId: 'next', taskPrompt: commit.subject, include: ['files'] };
      const begun = performance.now();
      const reply = product.compile(state, request);
      times.push(performance.now() - begun);
      tokens.whole.push(reply.tokenEstimate);
      tokens.ten.push(product.compile(state, { ...request, maxFacts: 10 }).tokenEstimate);
      const shown = filesShown(reply, known);
      ranks.push(1 / (1 + lowest(relevant, shown)));
      // Beyond what a default prompt shows, for comparison.
      const more = filesShown(product.compile(state, { ...request, maxFiles: 20 }), known);
      for (const most of [5, 10, 20])
        found[most].push(share(relevant, (most > 10 ? more : shown).slice(0, most)));
    }
    for (const file of commit.files) known.add(file);
    tell(resultOf(commit), commit.at);
  }
  return {
    name,
    asked: ranks.length,
    recall5: mean(found[5]),
    recall10: mean(found[10]),
    recall20: mean(found[20]),
    mrr: mean(ranks),
    tokens: mean(tokens.whole),
    ten: mean(tokens.ten),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

/** What prompts of each size hold of the commits that touched a file which the next one touches. */
export function measureUse(product, { name, commits }) {
  const { state, tell } = session(product);
  const found = [];
  for (const [index, commit] of commits.entries()) {
    const files = commit.files.filter((file) => !BUSY.test(file));
    if (index >= WARM_UP && index % EVERY === 0 && files.length > 0) {
      const past = commits.slice(0, index);
      const ofUse = past.filter((each) => each.files.some((file) => files.includes(file)));
      const ids = new Set(ofUse.map(({ sha }) => sha));
      const touched = (each) => each.files.filter((file) => files.includes(file)).length;
      const isFocused = (each) => touched(each) >= FOCUSED * each.files.length;
      const focused = new Set(ofUse.filter(isFocused).map(({ sha }) => sha));
      for (const [room, more] of Object.entries(ROOMS)) {
        const about = { session: 'eval', taskId: 'next', taskPrompt: commit.subject };
        const request = { ...about, ...more, include: ['facts', 'files'] };
        const { facts, files: likely, prompt, tokenEstimate: tokens } = product.compile(state, request);
        const work = facts.filter(({ relation }) => relation === 'summary');
        const tiers = tiersOf(likely, commit.files);
        const shown = new Set(facts.map(({ task }) => task).filter((task) => ids.has(task)));
        found.push({
          name,
          room,
          tokens,
          chance: ids.size / index,
          hit: Number(shown.size > 0 || tiers.likelyRight > 0),
          share: shown.size / Math.max(1, ids.size),
          lines: work.length,
          useful: work.filter(({ task }) => ids.has(task)).length,
          focused: work.filter(({ task }) => focused.has(task)).length,
          ...tiers,
          collapsed: [...prompt.matchAll(/ (\d+) more results? like it/g)].reduce(
            (sum, [, more]) => sum + Number(more),
            0,
          ),
        });
      }
    }
    tell(resultOf(commit), commit.at);
  }
  return found;
}

/** How many files of each tier are shown, and how many of them the commit touched. */
function tiersOf(likely, touched) {
  const some = (fits) => likely.filter(({ score }) => fits(score));
  const [first, second] = [some((score) => score >= 0.5), some((score) => score < 0.5)];
  const right = (files) => files.filter(({ path }) => touched.includes(path)).length;
  return {
    likely: first.length,
    likelyRight: right(first),
    perhaps: second.length,
    perhapsRight: right(second),
    touched: touched.length,
  };
}

/** The known files that a reply names: its likely files; of a version without them, the subjects of its facts. */
function filesShown({ files, facts }, known) {
  const named = files?.map(({ path }) => path) ?? facts.map(({ subject }) => subject);
  return [...new Set(named)].filter((path) => known.has(path));
}

/**
 * Plants a finding, a convention or a decision in a history, and asks for it in other words so many results later.
 *
 * @param random gives numbers from 0 to 1
 */
export function measurePlants(product, { name, commits }, distances, random) {
  const shown = [];
  for (const distance of distances) {
    const begin = Math.floor(random() * Math.max(1, commits.length - distance - WARM_UP));
    const before = commits.slice(begin, begin + WARM_UP);
    const after = commits.slice(begin + WARM_UP, begin + WARM_UP + distance);
    if (after.length < distance) continue;
    const { state, tell } = session(product);
    for (const commit of before) tell(resultOf(commit), commit.at);
    for (const plant of PLANTS) for (const result of results(plant)) tell(result);
    for (const commit of after) tell(resultOf(commit), commit.at);
    for (const plant of PLANTS) {
      const request = { session: 'eval', taskId: 'next', taskPrompt: plant.asked };
      // The best ten facts show how well they are chosen, whatever the room holds besides.
      const best = product.compile(state, { ...request, maxFacts: 10 }).prompt;
      const { prompt } = product.compile(state, request);
      const said = new Set(product.tokens(`/${plant.text} ${plant.file ?? ''}`));
      const words = product.tokens(`/${plant.asked}`).some((word) => said.has(word))
        ? 'a common word'
        : 'no common word';
      const { kind, half, asked } = plant;
      shown.push({
        name,
        distance,
        kind,
        half,
        words,
        asked,
        shown: best.includes(plant.shown),
        inPrompt: prompt.includes(plant.shown),
      });
    }
  }
  return shown;
}

/** Prompts asked for after planted decisions. */
const ASKED = 10;

/**
 * Plants so many decisions and conventions in a history, and counts how many of those without a word of the task its
 * prompts hold, and what they cost, so many results later.
 */
export function measureLasting(product, { name, commits }, distances, counts) {
  const found = [];
  const planted = PLANTS.filter(({ kind }) => kind !== 'must_fix').reverse();
  for (const count of counts)
    for (const distance of distances) {
      const plants = planted.slice(0, count);
      const [without, having] = [session(product), session(product)];
      for (const { tell } of [without, having])
        for (const commit of commits.slice(0, WARM_UP)) tell(resultOf(commit), commit.at);
      for (const plant of plants) for (const result of lasting(plant)) having.tell(result);
      const end = WARM_UP + distance;
      if (commits.length < end + ASKED) continue;
      for (const { tell } of [without, having])
        for (const commit of commits.slice(WARM_UP, end)) tell(resultOf(commit), commit.at);
      for (const { subject } of commits.slice(end, end + ASKED)) {
        const request = { session: 'eval', taskId: 'next', taskPrompt: subject };
        const reply = product.compile(having.state, request);
        const asked = new Set(product.tokens(`/${subject}`));
        const unlike = plants.filter(
          ({ text }) => !product.tokens(`/${text}`).some((word) => asked.has(word)),
        );
        found.push({
          name,
          count,
          distance,
          shown: mean(unlike.map(({ text }) => Number(reply.prompt.includes(text)))),
          more: reply.tokenEstimate - product.compile(without.state, request).tokenEstimate,
        });
      }
    }
  return found;
}

/** Numbers from 0 to 1, the same from the same seed. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function mean(values) {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(relevant, shown) {
  return relevant.filter((file) => shown.includes(file)).length / relevant.length;
}

function lowest(relevant, shown) {
  const places = relevant.map((file) => shown.indexOf(file)).filter((place) => place >= 0);
  return Math.min(Number.POSITIVE_INFINITY, ...places);
}

function quantile(values, at) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
