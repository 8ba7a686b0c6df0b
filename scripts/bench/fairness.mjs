// One session publishes very many results at once: how long the single result of another one takes until it counts.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectThroughline } from '../../dist/index.js';
import { AckedPublisher } from '../../dist/nats/jetstream/acked-publisher.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { resultOf } from './results.mjs';
import { median, quantile } from './stats.mjs';

const FLOOD = 20_000;
const WARM = 2000;
const IN_FLIGHT = 2000;
/** Singles that are published one after the other while one flood waits. */
const PROBES = 4;
const HOT = 'dispatch.hot.implementer';

export default {
  name: 'fairness',
  goals: goalsOf(`
    fairness.single.p99 | fairness: a single result of one session counts while 20,000 of another one wait: p99 | an absolute limit | at most 1000 ms
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const wanted = quick ? 8 : 40;
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  await startThroughline(['admin', 'serve'], server.url, shutdown, {
    THROUGHLINE_TUNING: 'afterTimeoutMs=60000',
  });
  const client = await connectThroughline({ url: server.url, timeoutMs: 60_000 });
  shutdown.add('the client', () => client.close());
  const publisher = new AckedPublisher(nats.connection, 10_000);
  shutdown.add('the publisher', async () => publisher.close());
  const bodies = Array.from({ length: FLOOD }, (_, n) => JSON.stringify(resultOf(n)));

  // What a new process does for the first time, it does slowly.
  for (let n = 0; n < WARM; n += 1) await publisher.publish(`dispatch.warm-${n % 10}.implementer`, bodies[n]);
  while (await isBusy(nats)) await sleep(5);
  await counted(client, 'warm');

  const singles = [];
  const rates = [];
  for (let flood = 1; singles.length < wanted; flood += 1) {
    const began = performance.now();
    for (let from = 0; from < FLOOD; from += IN_FLIGHT) {
      await Promise.all(bodies.slice(from, from + IN_FLIGHT).map((body) => publisher.publish(HOT, body)));
    }
    const took = [];
    while (took.length < PROBES && (await isBusy(nats)))
      took.push(await counted(client, `single-${flood}-${took.length}`));
    if (took.length === 0) throw new Error('a flood was over before it was published');
    singles.push(...took);
    while (await isBusy(nats)) await sleep(5);
    rates.push((FLOOD / (performance.now() - began)) * 1000);
    const shown = took.map((ms) => ms.toFixed(0)).join(', ');
    progress(`flood ${flood}: ${shown} ms; ${rates.at(-1).toFixed(0)} results a second`);
  }
  return {
    measured: { 'fairness.single.p99': quantile(singles, 0.99) },
    figures: [
      {
        name: 'a single result while a flood waits',
        text: `p50 ${median(singles).toFixed(0)} ms, p99 ${quantile(singles, 0.99).toFixed(0)} ms, n ${singles.length}`,
      },
      {
        name: `a flood of ${FLOOD}, from its first publish on`,
        text: `${median(rates).toFixed(0)} results a second`,
      },
    ],
  };
}

/** Milliseconds from the publish of a session's only result until a prompt reflects it. */
async function counted(client, session) {
  const began = performance.now();
  const { sequence: after } = await client.publishImplementer(session, resultOf(1));
  await client.compile({ session, taskId: 'next', taskPrompt: 'step', after });
  return performance.now() - began;
}

async function isBusy(nats) {
  const { waiting, inHand } = await nats.source.backlog();
  return waiting + inHand > 0;
}
