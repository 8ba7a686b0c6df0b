// Commands on one session, from a process of its own: while nothing else happens, and while results wait, in turn.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectThroughline } from '../../dist/index.js';
import { AckedPublisher } from '../../dist/nats/jetstream/acked-publisher.js';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { resultOf } from './results.mjs';

const SESSION = 'busy';
const WAITING = 10_000;
const IN_FLIGHT = 2000;
const WARM = 300;
/** Commands between two looks at whether results still wait: a look takes time of the server, too. */
const LOOK_EVERY = 5;
/** Until what a burst leaves behind is folded, and the machine is quiet again. */
const REST_MS = 1000;

/**
 * Milliseconds of commands, as many while nothing happens as while results wait, and results a second meanwhile.
 *
 * @param wanted of each, at least
 * @param sessions of the results. Default: the session of the commands
 * @param services what each process of the product serves; none: everything
 */
export async function commandsInBurst({ wanted, services, sessions = [SESSION], progress, shutdown }) {
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
