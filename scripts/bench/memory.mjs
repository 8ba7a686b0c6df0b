// Resident memory of processes that have to do with very many sessions, and whether it stays flat.
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '../../dist/contracts/names.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startServer, startThroughline, startUp, temporaryDir } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median } from './stats.mjs';

const EVENTS_EACH = 5;
const AT_ONCE = 64;
const MOST_ATTEMPTS = 5;
const BATCH = 500;

export default {
  name: 'memory',
  goals: goalsOf(`
    memory.compiler | memory: compiler that touched 10,000 sessions, highest resident | an absolute limit | at most 250 MB
    memory.extractor | memory: extractor that wrote 5,000 live session streams, highest resident | an absolute limit | at most 250 MB
    memory.compiler.flat | memory: compiler, last third of a ten-minute soak | its first third | at most 1.1 times
    memory.extractor.flat | memory: extractor, last third of a ten-minute soak | its first third | at most 1.1 times
    memory.up | memory: services of \`up\`, 10,000 sessions in a day, 200 of them hot, highest resident | an absolute limit | at most 200 MB
    memory.up.flat | memory: services of \`up\`, last third of a five-minute soak | its first third | at most 1.1 times
  `),
  run,
};

async function run({ quick, progress, shutdown }) {
  const [touched, live, soakMs] = quick ? [1000, 500, 20_000] : [10_000, 5000, 600_000];
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const compiler = await startThroughline(['admin', 'serve', '--only', 'compiler'], server.url, shutdown);
  const extractor = await startThroughline(['admin', 'serve', '--only', 'extractor'], server.url, shutdown);
  const residents = { compiler: [], extractor: [] };
  const sample = () => {
    residents.compiler.push(resident(compiler.pid));
    residents.extractor.push(resident(extractor.pid));
  };
  let n = 0;
  const publish = (index) => {
    n += 1;
    const subject = `dispatch.live-${index % live}.implementer`;
    return nats.source.publish(subject, Buffer.from(JSON.stringify(resultOf(n))));
  };
  const compile = async (session) => {
    const request = JSON.stringify({ session, taskId: 'next', taskPrompt: 'Measure module 12 under load' });
    const reply = (await nats.connection.request('prompt.compile', request, { timeout: 60_000 })).json();
    if (reply.factsTotal > 0) return;
    throw Object.assign(new Error(`${session}: ${JSON.stringify(reply).slice(0, 200)}`), reply.error);
  };
  // A server that is slow to answer slows us down, as it does every caller; what was asked again is counted.
  let again = 0;
  const patiently = async (work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (error.code !== 'unavailable' || attempt === MOST_ATTEMPTS) throw error;
        again += 1;
        await sleep(500 * attempt);
      }
    }
  };

  await inTurn(touched, async (index) => {
    const session = token(`touched-${index}`, 'session');
    for (let event = 1; event <= EVENTS_EACH; event += 1) {
      const messageId = `event:${event}`;
      await patiently(() => nats.log.append(session, factEvent(index * EVENTS_EACH + event), { messageId }));
    }
    await patiently(() => compile(session));
    if (index % 100 === 99) sample();
    if (index % 1000 === 999) progress(`${index + 1} of ${touched} sessions compiled`);
  });
  // No faster than they are written: the server makes a stream in 2 ms at first, and in 20 ms beside 15,000 others.
  for (let from = 0; from < live * 2; from += BATCH) {
    await inTurn(Math.min(BATCH, live * 2 - from), (index) => patiently(() => publish(from + index)));
    await settled(nats.source);
    sample();
    progress(`${Math.min(from + BATCH, live * 2)} of ${live * 2} results written`);
  }
  const touch = { compiler: residents.compiler.at(-1), extractor: residents.extractor.at(-1) };

  const soak = { compiler: [], extractor: [] };
  const end = performance.now() + soakMs;
  for (let turn = 0; performance.now() < end; turn += 1) {
    // A few hundred requests, then a look: about as much as a busy machine of agents.
    await inTurn(400, async (index) => {
      const at = turn * 400 + index;
      await patiently(() => publish(at));
      await patiently(() => compile(`touched-${(at * 7) % touched}`));
    });
    sample();
    for (const name of ['compiler', 'extractor']) soak[name].push(residents[name].at(-1));
    if (turn % 20 === 0) progress(`soak: ${Math.ceil((end - performance.now()) / 1000)} s left`);
  }
  await settled(nats.source);
  // The goals are about many sessions and ten minutes: in twenty seconds a heap is still finding its size.
  const flat = (values) => (quick ? undefined : third(values, 'last') / third(values, 'first'));
  const up = await upAllDay({ quick, progress, shutdown });
  return {
    measured: {
      'memory.compiler': quick ? undefined : Math.max(...residents.compiler),
      'memory.extractor': quick ? undefined : Math.max(...residents.extractor),
      'memory.compiler.flat': flat(soak.compiler),
      'memory.extractor.flat': flat(soak.extractor),
      'memory.up': quick ? undefined : Math.max(...up.residents),
      'memory.up.flat': flat(up.soak),
    },
    figures: [
      ...['compiler', 'extractor'].map((name) => ({
        name: `${name}, resident`,
        text: inWords(touch[name], soak[name], residents[name]),
      })),
      {
        name: 'services of `up`, resident',
        text: `at first ${up.residents[0]} MB; ${inWords(up.touch, up.soak, up.residents)}`,
      },
      {
        name: 'its nats-server, resident',
        text: `at first ${up.servers[0]} MB; highest ${Math.max(...up.servers)} MB`,
      },
    ],
    notes: [
      `memory: ${touched} and ${live} sessions, soak of ${soakMs / 1000} s with ${n - live * 2} results and as many prompts, asked again ${again} times.`,
    ],
  };
}

/** What `throughline up --detach` starts: sessions of a day, then some that go on. */
async function upAllDay({ quick, progress, shutdown }) {
  const [sessions, hot, soakMs] = quick ? [1000, 20, 20_000] : [10_000, 200, 300_000];
  const { url, pid } = await startUp(await temporaryDir(shutdown), shutdown);
  const nats = await openPorts(url, shutdown);
  const server = Number(
    execFileSync('pgrep', ['-P', String(pid)])
      .toString()
      .split('\n')[0],
  );
  const [residents, servers, soak] = [[], [], []];
  const sample = () => {
    residents.push(resident(pid));
    servers.push(resident(server));
  };
  sample();
  let n = 0;
  const publish = (index) => {
    n += 1;
    return nats.source.publish(`dispatch.day-${index}.implementer`, Buffer.from(JSON.stringify(resultOf(n))));
  };
  const compile = async (index) => {
    const request = JSON.stringify({
      session: `day-${index}`,
      taskId: 'next',
      taskPrompt: 'Measure module 12',
    });
    const reply = (await nats.connection.request('prompt.compile', request, { timeout: 60_000 })).json();
    if (reply.prompt === undefined) throw new Error(JSON.stringify(reply.error));
  };
  for (let from = 0; from < sessions; from += BATCH) {
    await inTurn(BATCH, async (at) => {
      for (let event = 0; event < EVENTS_EACH; event += 1) await publish(from + at);
    });
    await settled(nats.source);
    await inTurn(BATCH, (at) => compile(from + at));
    sample();
    if (from % 2000 === 0) progress(`up: ${from} of ${sessions} sessions`);
  }
  const touch = residents.at(-1);
  for (const end = performance.now() + soakMs; performance.now() < end; ) {
    await inTurn(hot, async (index) => {
      await publish(index);
      await compile(index);
      // One in ten returns to a session of the morning.
      if (index % 10 === 0) await compile((index * 7919 + n) % sessions);
    });
    sample();
    soak.push(residents.at(-1));
  }
  progress(`up: ${n} results`);
  return { touch, soak, residents, servers };
}

/** The median of the first or the last third. */
function third(values, which) {
  const length = Math.max(1, Math.floor(values.length / 3));
  return median(which === 'first' ? values.slice(0, length) : values.slice(-length));
}

function inWords(touch, soak, all) {
  return (
    `${touch} MB when all were touched, then ${third(soak, 'first')} to ${third(soak, 'last')} MB; ` +
    `highest ${Math.max(...all)} MB`
  );
}

/** Waits until every result is an event. */
async function settled(source) {
  for (;;) {
    const { waiting, inHand } = await source.backlog().catch(() => ({ waiting: 1, inHand: 0 }));
    if (waiting + inHand === 0) return;
    await sleep(100);
  }
}

/** Megabytes that a process holds. */
function resident(pid) {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024);
}

/** Runs `work` for 0 to `count` - 1, some at a time. */
async function inTurn(count, work) {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
