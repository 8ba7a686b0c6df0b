// Commands on one session, from a process of its own: while nothing else happens, and while results wait, in turn.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectThroughline } from '../../dist/index.js';
import { AckedPublisher } from '../../dist/nats/jetstream/acked-publisher.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { resultOf } from './results.mjs';
import { median, quantile } from './stats.mjs';

const SESSION = 'busy';
const WAITING = 10_000;
const IN_FLIGHT = 2000;
const WARM = 300;
/** Commands between two looks at whether results still wait: a look takes time of the server, too. */
const LOOK_EVERY = 5;
/** Until what a burst leaves behind is folded, and the machine is quiet again. */
const REST_MS = 1000;

const APART = [
  ['--only', 'extractor'],
  ['--only', 'tools'],
];
/** The session whose commands are measured, the sessions of the results, and what each process of the product serves. */
const CASES = {
  others: {
    text: '10,000 results of 100 other sessions',
    sessions: Array.from({ length: 100 }, (_, n) => `other-${n}`),
    services: [[]],
  },
  own: { text: '10,000 results of the same session', sessions: [SESSION], services: [[]] },
  apart: { text: 'the same, the extractor in another process', sessions: [SESSION], services: APART },
};

export default {
  name: 'burst',
  goals: goalsOf(`
    burst.others.p50 | commands on a session while 10,000 results of 100 others wait: p50 | the same session, idle | at most 1.5 times
    burst.others.p99 | commands on a session while 10,000 results of 100 others wait: p99 | the same session, idle | at most 2 times
    burst.own.p99 | commands on a session with 10,000 waiting results: p99 | the same session, idle | at most 3 times
    burst.apart.p99 | the same, the extractor in another process: p99 | the same session, idle | at most 1.5 times
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const [measured, figures] = [{}, []];
  for (const [id, { text, ...setting }] of Object.entries(CASES)) {
    const { idle, burst, rates } = await commandsInBurst({
      ...setting,
      wanted: quick ? 200 : 600,
      progress,
      shutdown,
    });
    measured[`burst.${id}.p50`] = median(burst) / median(idle);
    measured[`burst.${id}.p99`] = quantile(burst, 0.99) / quantile(idle, 0.99);
    const meanwhile = `${inWords(burst)}; ${median(rates).toFixed(0)} results a second meanwhile`;
    figures.push(
      { name: `command, idle (${id})`, text: inWords(idle) },
      { name: `command, ${text} wait`, text: meanwhile },
    );
  }
  return { measured, figures };
}

function inWords(times) {
  return `p50 ${median(times).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms, n ${times.length}`;
}

/**
 * Milliseconds of commands, as many while nothing happens as while results wait, and results a second meanwhile.
 *
 * @param wanted of each, at least
 * @param sessions of the results
 * @param services what each process of the product serves; none: everything
 */
async function commandsInBurst({ wanted, services, sessions, progress, shutdown }) {
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  for (const only of services) await startThroughline(['admin', 'serve', ...only], server.url, shutdown);
  const client = await connectThroughline({ url: server.url, timeoutMs: 60_000 });
  shutdown.add('the client', () => client.close());
  const publisher = new AckedPublisher(nats.connection, 10_000);
  shutdown.add('the publisher', async () => publisher.close());

  const bodies = Array.from({ length: WAITING }, (_, n) => JSON.stringify(resultOf(n)));
  const publish = (body, at) =>
    publisher.publish(`dispatch.${sessions[at % sessions.length]}.implementer`, body);
  const flood = async () => {
    for (let from = 0; from < WAITING; from += IN_FLIGHT) {
      await Promise.all(bodies.slice(from, from + IN_FLIGHT).map(publish));
    }
  };
  const isBusy = async () => {
    const { waiting, inHand } = await nats.source.backlog();
    return waiting + inHand > 0;
  };
  const isQuiet = async () => {
    while (await isBusy()) await sleep(5);
    await sleep(REST_MS);
  };

  let note;
  // In turn, so that the session stays as large as it is.
  const commands = async (count, times) => {
    for (let left = count; left > 0; left -= 1) {
      const began = performance.now();
      if (note === undefined) {
        ({ note } = await client.tools.noteAdd({ session: SESSION, content: `left: ${left}`, type: 'tip' }));
      } else {
        await client.tools.noteDelete({ session: SESSION, id: note.id });
        note = undefined;
      }
      times.push(performance.now() - began);
    }
  };

  await flood();
  await isQuiet();
  await commands(WARM, []);
  const idle = [];
  const burst = [];
  const rates = [];
  while (burst.length < wanted) {
    const from = burst.length;
    const began = performance.now();
    await flood();
    while (await isBusy()) await commands(LOOK_EVERY, burst);
    rates.push((WAITING / (performance.now() - began)) * 1000);
    await isQuiet();
    await commands(burst.length - from, idle);
    progress(`${burst.length}/${wanted} commands; ${rates.at(-1).toFixed(0)} results a second meanwhile`);
  }
  return { idle, burst, rates };
}
