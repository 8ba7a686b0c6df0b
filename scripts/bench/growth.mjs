// What grows with a session: events behind it, and facts to choose from.
import { token } from '../../dist/contracts/names.js';
import { KeywordFactRetriever } from '../../dist/memory/facts/fact-ranking.js';
import { evolve } from '../../dist/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState, factsOf } from '../../dist/memory/session/session-state.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { factEvent, shortEvent } from './results.mjs';
import { median } from './stats.mjs';

const QUERY = {
  taskDescription:
    'Measure module 12 under load with two workers and document what the options of its reader cost',
  taskId: 'next',
  maxFacts: 10,
  maxTokens: 500,
};
const CHUNK = 5000;

export default {
  name: 'growth',
  goals: goalsOf(`
    growth.events | growth: compile p50, one new dispatch each, with 1,000,000 events behind the session | with 1,000 events | at most 1.2 times
    growth.facts | growth: retrieval p50 over 50,000 valid facts; linear would be 100 | over 500 | at most 99 times
    growth.facts.tail | growth: retrieval p50 over 50,000 valid facts | the read of an empty tail | at most 1 times
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const [behind, turns] = quick ? [50_000, 300] : [1_000_000, 2000];
  await startThroughline(['admin', 'serve', '--only', 'compiler'], server.url, shutdown);
  const ask = async (session) => {
    const request = { session, taskId: 'next', taskPrompt: QUERY.taskDescription };
    const options = { timeout: 60_000 };
    const reply = (await nats.connection.request('prompt.compile', JSON.stringify(request), options)).json();
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply;
  };

  const sessions = { few: token('few', 'session'), many: token('many', 'session') };
  const written = { few: 0, many: 0 };
  const append = async (name, count) => {
    const first = written[name] + 1;
    written[name] += count;
    await Promise.all(
      Array.from({ length: count }, (_, i) => nats.log.append(sessions[name], shortEvent(first + i))),
    );
  };
  await append('few', 1000);
  for (let left = behind; left > 0; left -= CHUNK) {
    await append('many', Math.min(CHUNK, left));
    // A session is asked for while it grows: each load folds what is new, and writes a snapshot.
    await ask(sessions.many);
    if (written.many % 50_000 === 0) progress(`${written.many} of ${behind} events`);
  }
  const times = { few: [], many: [] };
  for (let turn = -100; turn < turns; turn += 1) {
    for (const name of ['few', 'many']) {
      await append(name, 1);
      const ms = await timed(() => ask(sessions[name]));
      if (turn >= 0) times[name].push(ms);
    }
  }
  const { sequence } = await ask(sessions.many);
  if (sequence !== written.many) throw new Error(`at ${sequence} of ${written.many} events`);

  const small = retrieverOver(500);
  const large = retrieverOver(50_000);
  const chosen = { small: [], large: [], tail: [] };
  for (let turn = -100; turn < turns; turn += 1) {
    const small500 = await timed(() => small.rank(QUERY));
    const large50k = await timed(() => large.rank(QUERY));
    const tail = await timed(() => nats.log.read(sessions.few, { after: written.few }));
    if (turn < 0) continue;
    chosen.small.push(small500);
    chosen.large.push(large50k);
    chosen.tail.push(tail);
  }
  const text = (all) => `p50 ${median(all).toFixed(3)} ms`;
  return {
    measured: {
      'growth.events': quick ? undefined : median(times.many) / median(times.few),
      'growth.facts': median(chosen.large) / median(chosen.small),
      'growth.facts.tail': median(chosen.large) / median(chosen.tail),
    },
    figures: [
      { name: 'compile, 1,000 events behind', text: text(times.few) },
      { name: `compile, ${behind.toLocaleString('en')} events behind`, text: text(times.many) },
      { name: 'retrieval over 500 facts', text: text(chosen.small) },
      { name: 'retrieval over 50,000 facts', text: text(chosen.large) },
      { name: 'read of an empty tail', text: text(chosen.tail) },
    ],
    notes: quick
      ? [
          `growth: with --quick there are ${behind.toLocaleString('en')} events, which the goal is not judged by.`,
        ]
      : [],
  };
}

/** A retriever over so many valid facts, the limit raised. */
function retrieverOver(facts) {
  const state = emptyState('facts', { ...DEFAULT_LIMITS, maxFacts: facts });
  for (let n = 1; factsOf(state).count() < facts; n += 1) evolve(state, { sequence: n, event: factEvent(n) });
  const store = factsOf(state);
  if (store.count() > facts * 1.25) throw new Error(`${store.count()} facts, not ${facts}`);
  return new KeywordFactRetriever(store);
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
