// Loading a session from its snapshot and by replaying all of it, in turn; and writing snapshots.
import { token } from '../../dist/contracts/names.js';
import { createSessionReader, createSnapshotWriter } from '../../dist/engine/folding/session-folding.js';
import { silentLogger } from '../../dist/engine/ports/logger-and-clock.js';
import { systemClock } from '../../dist/engine/runtime/pacing.js';
import { evolve } from '../../dist/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState, factsOf } from '../../dist/memory/session/session-state.js';
import { compilePrompt } from '../../dist/prompt/compile-prompt.js';
import { promptRequest, words } from './compile.mjs';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer } from './host.mjs';
import { factEvent, taskEvent } from './results.mjs';
import { median, quantile } from './stats.mjs';

const TAIL = 100;
const WARMING = 10;
/** Facts of a session of ordinary size, and results of a large one. */
const ORDINARY = 500;
const LARGE = 5000;
const limits = DEFAULT_LIMITS;

export default {
  name: 'load',
  goals: goalsOf(`
    load.cold | load, cold: snapshot and 100 newer events | full replay of 10,000 events | at least 20 times
    load.cold.prompt | load, cold: a prompt of a session of 500 facts, from its snapshot and ${TAIL} newer results, nothing in memory | an absolute limit | at most 15 ms
    load.snapshot.p99 | snapshot write of 500 facts and 500 tasks: p99 | an absolute limit | at most 10 ms
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const [events, rounds, writes] = quick ? [10_000, 5, 100] : [10_000, 15, 300];
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const session = token('load', 'session');
  const noSnapshots = {
    load: async () => undefined,
    loadAtOrBefore: async () => undefined,
    save: async () => 'saved',
  };
  const readerOn = (snapshots) =>
    createSessionReader({ log: nats.log, snapshots, limits, logger: silentLogger, maxCached: 1 });
  const writer = createSnapshotWriter({
    snapshots: nats.snapshots,
    clock: systemClock,
    logger: silentLogger,
    every: 100,
  });

  await append(nats, session, 1, events);
  await writer.write((await readerOn(noSnapshots).load(session)).folded);
  await append(nats, session, events + 1, events + TAIL);
  const full = [];
  const cold = [];
  for (let round = 1; round <= rounds; round += 1) {
    full.push(await timed(() => readerOn(noSnapshots).load(session)));
    cold.push(await timed(() => readerOn(nats.snapshots).load(session)));
    progress(`round ${round}/${rounds}`);
  }

  const prompts = (name, results, tail) =>
    coldPrompts({ nats, noSnapshots, readerOn, writer, rounds }, token(name, 'session'), results, tail);
  const ordinary = await prompts('ordinary', resultsWith(ORDINARY), TAIL);
  const large = await prompts('large', LARGE, 0);

  const state = emptyState('writes', limits);
  for (let n = 1; n <= 600; n += 1) evolve(state, { sequence: n, event: factEvent(n) });
  for (let n = 1; n <= 500; n += 1) evolve(state, { sequence: 600 + n, event: taskEvent(n) });
  const saved = [];
  for (let write = 0; write < writes; write += 1) {
    state.sequence += 1;
    const folded = { key: token('writes', 'session'), state, snapshotSequence: 0, sinceSnapshot: 0 };
    saved.push(await timed(() => writer.write(folded)));
  }
  const text = (times) =>
    `p50 ${median(times).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms, n ${times.length}`;
  return {
    measured: {
      'load.cold': median(full.map((ms, round) => ms / cold[round])),
      'load.cold.prompt': median(ordinary.times),
      'load.snapshot.p99': quantile(saved, 0.99),
    },
    figures: [
      { name: `full replay of ${events + TAIL} events`, text: text(full) },
      { name: `snapshot and ${TAIL} newer events`, text: text(cold) },
      ...[ordinary, large].map(({ of, facts, times }) => ({
        name: `prompt of ${of}, nothing in memory`,
        text: `${text(times)}; ${facts} facts in all`,
      })),
      { name: 'snapshot write', text: text(saved) },
    ],
  };
}

/** Milliseconds from nothing to a prompt: the snapshot read and decoded, the tail folded, the prompt compiled. */
async function coldPrompts({ nats, noSnapshots, readerOn, writer, rounds }, session, results, tail) {
  await append(nats, session, 1, results);
  await writer.write((await readerOn(noSnapshots).load(session)).folded);
  await append(nats, session, results + 1, results + tail);
  const { asked, budget } = promptRequest(session);
  const times = [];
  let facts = 0;
  // The first ones run code that is not compiled yet.
  for (let round = -WARMING; round < rounds; round += 1) {
    const ms = await timed(async () => {
      const { folded } = await readerOn(nats.snapshots).load(session);
      compilePrompt(folded.state, asked, budget, undefined, words);
      facts = factsOf(folded.state).count();
    });
    if (round >= 0) times.push(ms);
  }
  return { of: `${results} results in the snapshot and ${tail} newer`, facts, times };
}

/** How many results leave so many facts. */
function resultsWith(facts) {
  const state = emptyState('size', limits);
  let n = 0;
  while (factsOf(state).count() < facts) evolve(state, { sequence: ++n, event: factEvent(n) });
  return n;
}

async function append(nats, session, from, to) {
  for (let first = from; first <= to; first += 500) {
    const count = Math.min(500, to - first + 1);
    await Promise.all(
      Array.from({ length: count }, (_, i) => nats.log.append(session, factEvent(first + i))),
    );
  }
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
