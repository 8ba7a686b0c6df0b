// What open inspectors cost a compiler in the same process: prompts with 50 browsers on the live feed and with none, in
// turn, while results come in. Half of the browsers watch the session that is compiled.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { token } from '../../dist/contracts/names.js';
import { Shutdown } from '../../dist/engine/runtime/shutdown.js';
import { AckedPublisher } from '../../dist/nats/jetstream/acked-publisher.js';
import { freePort } from '../free-port.mjs';
import { openPorts, startScript, startServer, startThroughline } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median, quantile } from './stats.mjs';

const SESSION = token('compile', 'session');
const READERS = fileURLToPath(new URL('inspector-readers.mjs', import.meta.url));
const OPEN = 50;
const EVENTS = 300;
const PER_SECOND = { prompts: 20, results: 10 };
const TOKEN = 'the-token-of-the-benchmark';

export default {
  name: 'inspectors',
  goals: [
    {
      id: 'inspectors.compile',
      work: `time of a prompt with ${OPEN} open inspectors, p50`,
      against: 'the same with none',
      atMost: 1.1,
      unit: 'times',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const server = await startServer(shutdown);
  const port = await freePort();
  const args = ['admin', 'serve', '--inspector-port', String(port)];
  await startThroughline(args, server.url, shutdown, { THROUGHLINE_INSPECTOR_TOKEN: TOKEN });
  const nats = await openPorts(server.url, shutdown);
  for (let n = 1; n <= EVENTS; n += 1) await nats.log.append(SESSION, factEvent(n));
  const publisher = new AckedPublisher(nats.connection, 10_000);
  shutdown.add('the publisher', async () => publisher.close());
  const origin = `http://127.0.0.1:${port}`;
  const rounds = quick ? 4 : 12;
  const times = { open: [], none: [] };
  const ratios = [];
  await prompts(nats, publisher, 40);
  for (let round = 1; round <= rounds; round += 1) {
    const order = round % 2 === 0 ? ['open', 'none'] : ['none', 'open'];
    const medians = {};
    for (const each of order) {
      const browsers = new Shutdown();
      if (each === 'open') await startScript(READERS, [origin, TOKEN, OPEN, SESSION], browsers);
      const took = await prompts(nats, publisher, quick ? 40 : 100);
      await browsers.release(10_000);
      medians[each] = median(took);
      times[each].push(...took);
    }
    ratios.push(medians.open / medians.none);
    progress(`round ${round}/${rounds}`);
  }
  const shown = (ms) => `p50 ${median(ms).toFixed(2)} ms, p95 ${quantile(ms, 0.95).toFixed(2)} ms`;
  return {
    measured: { 'inspectors.compile': median(ratios) },
    figures: [
      { name: `a prompt, ${OPEN} open inspectors`, text: shown(times.open) },
      { name: 'a prompt, none open', text: shown(times.none) },
    ],
    notes: [
      `${PER_SECOND.prompts} prompts and ${PER_SECOND.results} results a second, ${rounds} pairs of rounds. Services and inspector are one process.`,
    ],
  };
}

let published = 0;

/** Milliseconds of so many prompts, at a steady pace, while results come in. */
async function prompts(nats, publisher, count) {
  const took = [];
  for (let n = 1; n <= count; n += 1) {
    if (n % (PER_SECOND.prompts / PER_SECOND.results) === 0) {
      published += 1;
      void publisher.publish(`dispatch.${SESSION}.implementer`, JSON.stringify(resultOf(published)));
    }
    const request = { session: SESSION, taskId: `next-${n}`, taskPrompt: 'Document the reader of module 12' };
    const began = performance.now();
    await nats.connection.request('prompt.compile', JSON.stringify(request), { timeout: 10_000 });
    took.push(performance.now() - began);
    await sleep(1000 / PER_SECOND.prompts);
  }
  return took;
}
