// Resident memory of processes that have to do with very many sessions, and whether it stays flat.
import { execFileSync } from 'node:child_process';
import { token } from '../../dist/contracts/names.js';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median } from './stats.mjs';

const EVENTS_EACH = 5;
const AT_ONCE = 64;

export default {
  name: 'memory',
  goals: [
    {
      id: 'memory.compiler',
      work: 'memory: compiler that touched 10,000 sessions, highest resident',
      against: 'an absolute limit',
      atMost: 250,
      unit: 'MB',
    },
    {
      id: 'memory.extractor',
      work: 'memory: extractor that wrote 5,000 live session streams, highest resident',
      against: 'an absolute limit',
      atMost: 250,
      unit: 'MB',
    },
    {
      id: 'memory.compiler.flat',
      work: 'memory: compiler, last third of a ten-minute soak',
      against: 'its first third',
      atMost: 1.1,
      unit: 'times',
    },
    {
      id: 'memory.extractor.flat',
      work: 'memory: extractor, last third of a ten-minute soak',
      against: 'its first third',
      atMost: 1.1,
      unit: 'times',
    },
  ],
  run,
};

async function run({ quick, progress, releasers }) {
  const [touched, live, soakMs] = quick ? [1000, 500, 20_000] : [10_000, 5000, 600_000];
  const server = await startServer(releasers);
  const nats = await openPorts(server.url, releasers);
  const compiler = await startThroughline(['serve', '--only', 'compiler'], server.url, releasers);
  const extractor = await startThroughline(['serve', '--only', 'extractor'], server.url, releasers);
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
    if (!(reply.factsTotal > 0)) throw new Error(`${session}: ${JSON.stringify(reply).slice(0, 200)}`);
  };

  await inTurn(touched, async (index) => {
    const session = token(`touched-${index}`, 'session');
    for (let event = 1; event <= EVENTS_EACH; event += 1) {
      await nats.log.append(session, factEvent(index * EVENTS_EACH + event));
    }
    await compile(session);
    if (index % 1000 === 999) progress(`${index + 1} of ${touched} sessions compiled`);
  });
  await inTurn(live * 2, async (index) => {
    await publish(index);
    if (index % 1000 === 999) progress(`${index + 1} of ${live * 2} results published`);
  });
  sample();

  const soak = { compiler: [], extractor: [] };
  const end = performance.now() + soakMs;
  for (let turn = 0; performance.now() < end; turn += 1) {
    // A few hundred requests, then a look: about as much as a busy machine of agents.
    await inTurn(400, async (index) => {
      const at = turn * 400 + index;
      await publish(at);
      await compile(`touched-${(at * 7) % touched}`);
    });
    sample();
    for (const name of ['compiler', 'extractor']) soak[name].push(residents[name].at(-1));
    if (turn % 20 === 0) progress(`soak: ${Math.ceil((end - performance.now()) / 1000)} s left`);
  }
  const third = (values, which) => {
    const length = Math.max(1, Math.floor(values.length / 3));
    return median(which === 'first' ? values.slice(0, length) : values.slice(-length));
  };
  // The goals are about many sessions and ten minutes: in twenty seconds a heap is still finding its size.
  const flat = (name) => (quick ? undefined : third(soak[name], 'last') / third(soak[name], 'first'));
  return {
    measured: {
      'memory.compiler': quick ? undefined : Math.max(...residents.compiler),
      'memory.extractor': quick ? undefined : Math.max(...residents.extractor),
      'memory.compiler.flat': flat('compiler'),
      'memory.extractor.flat': flat('extractor'),
    },
    figures: ['compiler', 'extractor'].map((name) => ({
      name: `${name}, resident`,
      text: `${residents[name][0]} MB, then ${third(soak[name], 'first')} to ${third(soak[name], 'last')} MB`,
    })),
    notes: [
      `memory: ${touched} and ${live} sessions, soak of ${soakMs / 1000} s with ${n - live * 2} results and as many prompts.`,
    ],
  };
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
