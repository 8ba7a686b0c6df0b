// Prompts of a session that remembers as much as one does by default: asked for again, and with something new each time.
import { token } from '../../../dist/contracts/names.js';
import { Shutdown } from '../../../dist/engine/runtime/shutdown.js';
import { startThroughline } from '../host.mjs';
import { factEvent, resultOf } from '../results.mjs';
import { ready } from './three-servers.mjs';

const SESSION = token('prompts', 'session');
const LIVE = token('visible', 'session');
const EVENTS = 300;
const REQUEST_MS = 10_000;

/** Starts the services, and gives the times of `count` prompts of each kind, in milliseconds. */
export async function prompts({ nats, url, env, count }) {
  const own = new Shutdown();
  try {
    await startThroughline(['admin', 'serve'], url, own, env);
    return await asked(nats, count);
  } finally {
    await own.release(30_000);
  }
}

async function asked(nats, count) {
  for (let n = 1; n <= EVENTS; n += 1) await nats.log.append(SESSION, factEvent(n));
  const ask = async (more = {}) => {
    const request = JSON.stringify({ session: SESSION, taskId: 'next', taskPrompt: 'Go on', ...more });
    const { data } = await nats.connection.request('prompt.compile', request, { timeout: REQUEST_MS });
    const reply = JSON.parse(Buffer.from(data));
    if (reply.prompt === undefined) throw new Error(JSON.stringify(reply.error));
  };
  await ready(ask);
  let n = EVENTS;
  const kinds = {
    warm: () => timed(ask),
    next: async () => {
      n += 1;
      await nats.log.append(SESSION, factEvent(n));
      return timed(ask);
    },
    visible: () =>
      timed(async () => {
        n += 1;
        const body = Buffer.from(JSON.stringify(resultOf(n)));
        const { sequence } = await nats.source.publish(`dispatch.${LIVE}.implementer`, body);
        await ask({ session: LIVE, after: sequence });
      }),
  };
  const times = { warm: [], next: [], visible: [] };
  for (let at = 0; at < count; at += 1)
    for (const [kind, work] of Object.entries(kinds)) times[kind].push(await work());
  return times;
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
