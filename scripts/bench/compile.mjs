// Asking for prompts, side by side with an echo over NATS request/reply of the same reply size.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkedRequest } from '../../dist/contracts/checked.js';
import { compileRequest } from '../../dist/contracts/compile-request.js';
import { token } from '../../dist/contracts/names.js';
import { WordVectors } from '../../dist/memory/search/word-vectors.js';
import { evolve } from '../../dist/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState, factsOf } from '../../dist/memory/session/session-state.js';
import { compilePrompt } from '../../dist/prompt/compile-prompt.js';
import { DEFAULT_BUDGET } from '../../dist/prompt/prompt-kind.js';
import { goalsOf } from './goals.mjs';
import { openPorts, startScript, startServer, startThroughline } from './host.mjs';
import { factEvent, resultOf } from './results.mjs';
import { median, quantile } from './stats.mjs';

const SESSION = token('compile', 'session');
const LIVE = token('visible', 'session');
const ECHO = 'an echo of the same reply size';
/** Leaves as many facts as a session remembers: older ones have been closed or forgotten. */
const EVENTS = 300;
const REQUEST = {
  taskId: 'next',
  taskPrompt:
    'Make the reader of module 12 take its tail from the log in one batch, document its options and measure it ' +
    'under load with two workers; the snapshot must not change',
};

export default {
  name: 'compile',
  goals: [
    ...goalsOf(`
      compile.warm.p50 | compile, warm, 2,000 facts: p50 | ${ECHO} | at most 2.5 times
      compile.warm.p99 | compile, warm, 2,000 facts: p99 | ${ECHO} | at most 5 times
      compile.next.p50 | compile, one new dispatch each: p50 | ${ECHO} | at most 4 times
      compile.visible.p50 | publish → visible in a prompt (\`after\`): p50 | one publish with PubAck and one echo | at most 4 times
    `),
    cpuGoal(500, 0.9),
    cpuGoal(5000, 0.9),
  ],
  run,
};

function cpuGoal(facts, atMost) {
  const work = `compile, warm, in process, ${facts.toLocaleString('en')} facts: processor time`;
  return { id: `compile.cpu.${facts}`, work, against: 'an absolute limit', atMost, unit: 'ms' };
}

async function run({ quick, progress, shutdown }) {
  const server = await startServer(shutdown);
  const nats = await openPorts(server.url, shutdown);
  const { connection } = nats;
  for (const only of ['compiler', 'extractor']) {
    await startThroughline(['admin', 'serve', '--only', only], server.url, shutdown);
  }
  const echo = fileURLToPath(new URL('echo.mjs', import.meta.url));
  await startScript(echo, [], shutdown, { NATS_URL: server.url });
  const jsm = await connection.jetstreamManager();
  await jsm.streams.add({ name: 'PLAIN', subjects: ['plain'] });
  const js = connection.jetstream();

  for (let n = 1; n <= EVENTS; n += 1) await nats.log.append(SESSION, factEvent(n));
  const ask = async (more = {}) => {
    const request = JSON.stringify({ session: SESSION, ...REQUEST, ...more });
    const { data } = await connection.request('prompt.compile', request, { timeout: 10_000 });
    return data;
  };
  const first = JSON.parse(Buffer.from(await ask()));
  if (!(first.factsTotal >= DEFAULT_LIMITS.maxFacts))
    throw new Error(`only ${first.factsTotal} facts: ${first.error}`);
  const size = Buffer.byteLength(JSON.stringify(first));
  await connection.request('echo.set', 'x'.repeat(size), { timeout: 1000 });
  const request = JSON.stringify({ session: SESSION, ...REQUEST });
  const echoed = () => connection.request('echo', request, { timeout: 1000 });

  const [blocks, each] = quick ? [5, 100] : [20, 300];
  const compare = (name, cases) =>
    sideBySide(cases, blocks, each, (block) => progress(`${name} ${block}/${blocks}`));

  const warm = await compare('warm', { compile: () => timed(ask), echo: () => timed(echoed) });
  let n = EVENTS;
  const next = await compare('one new dispatch each', {
    compile: async () => {
      n += 1;
      await nats.log.append(SESSION, factEvent(n));
      return timed(ask);
    },
    echo: () => timed(echoed),
  });
  const subject = `dispatch.${LIVE}.implementer`;
  const publish = async () => {
    n += 1;
    const { sequence } = await nats.source.publish(subject, Buffer.from(JSON.stringify(resultOf(n))));
    const reply = await ask({ session: LIVE, after: sequence });
    if (reply.length < 500) throw new Error(`not visible: ${Buffer.from(reply)}`);
  };
  const visible = await compare('publish → visible', {
    compile: () => timed(publish),
    echo: () =>
      timed(async () => {
        await js.publish('plain', JSON.stringify(resultOf(n)));
        await echoed();
      }),
  });
  const cpu = [];
  for (const facts of [500, 5000]) cpu.push({ facts, ...(await inProcess(facts, quick ? 300 : 2000)) });
  return {
    measured: {
      'compile.warm.p50': warm.ratio(0.5),
      'compile.warm.p99': warm.ratio(0.99),
      'compile.next.p50': next.ratio(0.5),
      'compile.visible.p50': visible.ratio(0.5),
      ...Object.fromEntries(cpu.map(({ facts, ms }) => [`compile.cpu.${facts}`, ms])),
    },
    figures: [
      ...cpu.map(({ facts, prompt, ms }) => ({
        name: `in process, ${facts.toLocaleString('en')} facts`,
        text: `${ms.toFixed(2)} ms of processor time, a prompt of ${prompt} characters`,
      })),
      { name: 'facts, bytes of a reply', text: `${first.factsTotal}, ${size}` },
      ...Object.entries({ warm, 'one new dispatch': next, 'publish → visible': visible }).flatMap(
        ([name, of]) => [
          { name, text: of.text('compile') },
          { name: `${name}: compared with`, text: of.text('echo') },
        ],
      ),
    ],
  };
}

/** The table of word vectors, which a compiler reads once. */
export const words = new WordVectors(
  readFileSync(new URL('../../dist/words/word-vectors.bin', import.meta.url)),
);

/** The request of the benchmarks, checked, and the budget of a session without settings. */
export function promptRequest(session) {
  return { asked: checkedRequest(compileRequest, { session, ...REQUEST }), budget: DEFAULT_BUDGET };
}

/** Processor time of a prompt over so many facts, with its garbage, in milliseconds: the median of ten rounds. */
async function inProcess(facts, count) {
  const state = emptyState(SESSION, { ...DEFAULT_LIMITS, maxFacts: facts });
  for (let n = 1; factsOf(state).count() < facts; n += 1) evolve(state, { sequence: n, event: factEvent(n) });
  const { asked, budget } = promptRequest(SESSION);
  let prompt = '';
  const rounds = [];
  // The first round is for the compiler of JavaScript.
  for (let round = 0; round <= 10; round += 1) {
    const began = process.cpuUsage();
    for (let turn = 0; turn < count / 10; turn += 1)
      ({ prompt } = compilePrompt(state, asked, budget, undefined, words));
    const { user, system } = process.cpuUsage(began);
    if (round > 0) rounds.push((user + system) / 1000 / (count / 10));
  }
  return { ms: median(rounds), prompt: prompt.length };
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Runs two cases in turn, in blocks; a ratio is the median of the blocks' ratios. */
async function sideBySide(cases, blocks, each, onBlock) {
  const times = { compile: [], echo: [] };
  for (let warming = 0; warming < each; warming += 1) for (const work of Object.values(cases)) await work();
  for (let block = 0; block < blocks; block += 1) {
    for (const name of Object.keys(times)) times[name].push([]);
    for (let turn = 0; turn < each; turn += 1) {
      for (const [name, work] of Object.entries(cases)) times[name][block].push(await work());
    }
    onBlock(block + 1);
  }
  return {
    ratio: (q) =>
      median(times.compile.map((block, index) => quantile(block, q) / quantile(times.echo[index], q))),
    text: (name) => {
      const all = times[name].flat();
      return `p50 ${quantile(all, 0.5).toFixed(2)} ms, p99 ${quantile(all, 0.99).toFixed(2)} ms, n ${all.length}`;
    },
  };
}
