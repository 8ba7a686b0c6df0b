// What spans cost where no SDK is there to record them: the services as they are, and with an empty tracing in its place,
// in turn, in one process, each on a server of its own. What counts is the CPU time of the process, clients included: others
// on the machine change it little.
import { token } from '../../dist/contracts/names.js';
import { noTracing, silentLogger } from '../../dist/engine/ports/clients.js';
import { AckedPublisher } from '../../dist/nats/jetstream/acked-publisher.js';
import { serve } from '../../dist/services/serve.js';
import { config, openPorts, startServer } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median } from './stats.mjs';

const SESSION = token('compile', 'session');
const INGESTED = 'ingest';
const EVENTS = 300;
const REQUEST = JSON.stringify({
  session: SESSION,
  taskId: 'next',
  taskPrompt: 'Document the reader of module 12',
});
const WITHOUT = 'the same without tracing';

export default {
  name: 'monitoring',
  goals: [
    {
      id: 'monitoring.compile',
      work: 'prompts for a second of CPU, with tracing and no SDK',
      against: WITHOUT,
      atLeast: 0.95,
      unit: 'times',
    },
    {
      id: 'monitoring.ingest',
      work: 'results for a second of CPU, with tracing and no SDK',
      against: WITHOUT,
      atLeast: 0.95,
      unit: 'times',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const cases = { with: await started(shutdown), without: await started(shutdown, { tracing: noTracing }) };
  const [blocks, asks, results] = quick ? [10, 50, 500] : [60, 100, 1000];
  const compile = await inTurn(cases, blocks, (one) => asked(one, asks), progress, 'compile');
  const ingest = await inTurn(cases, blocks, (one) => one.publish(results), progress, 'ingest');
  const rate = (each, ms) => `${((median(ms) / each) * 1000).toFixed(0)} µs of CPU each`;
  return {
    measured: { 'monitoring.compile': compile.ratio, 'monitoring.ingest': ingest.ratio },
    figures: [
      { name: 'prompts, with tracing', text: rate(asks, compile.ms.with) },
      { name: 'prompts, without', text: rate(asks, compile.ms.without) },
      { name: 'results, with tracing', text: rate(results, ingest.ms.with) },
      { name: 'results, without', text: rate(results, ingest.ms.without) },
    ],
    notes: [
      `Medians of ${blocks} pairs of short blocks: what is left of the difference is noise of the machine.`,
    ],
  };
}

/** All services in this process, with a session that has facts. */
async function started(shutdown, more = {}) {
  const server = await startServer(shutdown);
  const settings = { ...config, requestsPerSecond: 0 };
  await serve(server.url, { config: settings, logger: silentLogger, shutdown, ...more });
  const nats = await openPorts(server.url, shutdown);
  for (let n = 1; n <= EVENTS; n += 1) await nats.log.append(SESSION, factEvent(n));
  const publisher = new AckedPublisher(nats.connection, 10_000);
  shutdown.add('the publisher', async () => publisher.close());
  let whenCounted = () => {};
  let left = 0;
  nats.connection.subscribe(`session.${INGESTED}.>`, {
    callback: () => {
      left -= 1;
      if (left === 0) whenCounted();
    },
  });
  let n = 0;
  return {
    ask: () => nats.connection.request('prompt.compile', REQUEST, { timeout: 10_000 }),
    /** Publishes so many results; resolves when each has its event. */
    async publish(count) {
      left = count;
      const counted = new Promise((resolve) => {
        whenCounted = resolve;
      });
      for (let sent = 0; sent < count; sent += 1) {
        n += 1;
        void publisher.publish(`dispatch.${INGESTED}.implementer`, JSON.stringify(resultOf(n)));
      }
      await counted;
    },
  };
}

async function asked({ ask }, asks) {
  for (let turn = 0; turn < asks; turn += 1) await ask();
}

/** Milliseconds of CPU that it takes. */
async function cpuOf(work) {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** The two in blocks, each time in the other order; the ratio is the median of the blocks' ratios. */
async function inTurn(cases, blocks, work, progress, name) {
  const ms = { with: [], without: [] };
  for (let block = -3; block < blocks; block += 1) {
    const order = block % 2 === 0 ? ['with', 'without'] : ['without', 'with'];
    for (const each of order) {
      const took = await cpuOf(() => work(cases[each]));
      // The first ones only warm up.
      if (block >= 0) ms[each].push(took);
    }
    if (block >= 0 && (block + 1) % 10 === 0) progress(`${name} ${block + 1}/${blocks}`);
  }
  return { ms, ratio: median(ms.without.map((without, index) => without / ms.with[index])) };
}
