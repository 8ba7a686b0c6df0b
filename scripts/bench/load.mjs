// Loading a session from its snapshot and by replaying all of it, in turn; writing snapshots; and commands while results
// wait.
import { token } from '../../dist/contracts/names.js';
import { createSessionReader, createSnapshotWriter } from '../../dist/engine/folding/session-folding.js';
import { silentLogger } from '../../dist/engine/ports/logger-and-clock.js';
import { systemClock } from '../../dist/engine/runtime/pacing.js';
import { evolve } from '../../dist/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState } from '../../dist/memory/session/session-state.js';
import { compilePrompt } from '../../dist/prompt/compile-prompt.js';
import { commandsInBurst } from './commands-in-burst.mjs';
import { promptRequest } from './compile.mjs';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer } from './host.mjs';
import { factEvent, taskEvent } from './results.mjs';
import { median, quantile } from './stats.mjs';

const TAIL = 100;
const WARMING = 10;
/** Events of the session whose prompt is compiled with nothing in memory. */
const COLD = 5000;
const limits = DEFAULT_LIMITS;

export default {
  name: 'load',
  goals: goalsOf(`
    load.cold | load, cold: snapshot and 100 newer events | full replay of 10,000 events | at least 20 times
    load.cold.prompt | load, cold: a prompt of a session of 5,000 events, from its snapshot, nothing in memory | an absolute limit | at most 15 ms
    load.snapshot.p99 | snapshot write of 500 facts and 500 tasks: p99 | an absolute limit | at most 10 ms
    load.burst.p99 | commands on a session with 10,000 waiting results: p99 | the same session, idle | at most 3 times
    load.burst.apart.p99 | the same, the extractor in another process: p99 | the same session, idle | at most 1.5 times
    load.burst.others.p99 | commands on a session while 10,000 results of 100 others wait: p99 | the same session, idle | at most 1.5 times
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

  const prompts = await coldPrompts(nats, { noSnapshots, readerOn, writer, rounds });

  const state = emptyState('writes', limits);
  for (let n = 1; n <= 600; n += 1) evolve(state, { sequence: n, event: factEvent(n) });
  for (let n = 1; n <= 500; n += 1) evolve(state, { sequence: 600 + n, event: taskEvent(n) });
  const saved = [];
  for (let write = 0; write < writes; write += 1) {
    state.sequence += 1;
    const folded = { key: token('writes', 'session'), state, snapshotSequence: 0, sinceSnapshot: 0 };
    saved.push(await timed(() => writer.write(folded)));
  }
  const wanted = quick ? 200 : 600;
  const together = await commandsInBurst({ wanted, services: [[]], progress, shutdown });
  const services = [
    ['--only', 'extractor'],
    ['--only', 'tools'],
  ];
  const apart = await commandsInBurst({ wanted, services, progress, shutdown });
  const sessions = Array.from({ length: 100 }, (_, n) => `other-${n}`);
  const others = await commandsInBurst({ wanted, services: [[]], sessions, progress, shutdown });
  const text = (times) =>
    `p50 ${median(times).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms, n ${times.length}`;
  return {
    measured: {
      'load.cold': median(full.map((ms, round) => ms / cold[round])),
      'load.cold.prompt': median(prompts),
      'load.snapshot.p99': quantile(saved, 0.99),
      'load.burst.p99': quantile(together.burst, 0.99) / quantile(together.idle, 0.99),
      'load.burst.apart.p99': quantile(apart.burst, 0.99) / quantile(apart.idle, 0.99),
      'load.burst.others.p99': quantile(others.burst, 0.99) / quantile(others.idle, 0.99),
    },
    figures: [
      { name: `full replay of ${events + TAIL} events`, text: text(full) },
      { name: `snapshot and ${TAIL} newer events`, text: text(cold) },
      { name: `prompt of ${COLD} events, nothing in memory`, text: text(prompts) },
      { name: 'snapshot write', text: text(saved) },
      { name: 'command, idle session', text: text(together.idle) },
      {
        name: 'command, 10,000 results wait',
        text: `${text(together.burst)}; ${median(together.rates).toFixed(0)} results a second meanwhile`,
      },
      { name: 'command, idle session, extractor apart', text: text(apart.idle) },
      {
        name: 'command, 10,000 results wait, extractor apart',
        text: `${text(apart.burst)}; ${median(apart.rates).toFixed(0)} results a second meanwhile`,
      },
      { name: 'command, idle session, others idle', text: text(others.idle) },
      {
        name: 'command, 10,000 results of 100 other sessions wait',
        text: `${text(others.burst)}; ${median(others.rates).toFixed(0)} results a second meanwhile`,
      },
    ],
  };
}

/** Milliseconds from nothing to a prompt: the snapshot read and decoded, the empty tail, the prompt compiled. */
async function coldPrompts(nats, { noSnapshots, readerOn, writer, rounds }) {
  const session = token('cold', 'session');
  await append(nats, session, 1, COLD);
  await writer.write((await readerOn(noSnapshots).load(session)).folded);
  const { asked, budget } = await promptRequest(session);
  const times = [];
  // The first ones run code that is not compiled yet.
  for (let round = -WARMING; round < rounds; round += 1) {
    const ms = await timed(async () => {
      const { folded } = await readerOn(nats.snapshots).load(session);
      compilePrompt(folded.state, asked, budget);
    });
    if (round >= 0) times.push(ms);
  }
  return times;
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
