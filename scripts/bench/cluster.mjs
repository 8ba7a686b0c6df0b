// Three servers with three replicas, beside one server and a bare relay: what appends, results and prompts cost, what several
// extractors do together, and what happens when one of them, or a server that leads, is killed under load.
import { loadConfig } from '../../dist/config/config.js';
import { token } from '../../dist/contracts/names.js';
import { Shutdown } from '../../dist/engine/runtime/shutdown.js';
import { extractorsTogether, inWords as together } from './cluster/extractors.mjs';
import { leadersKilled } from './cluster/leader-killed.mjs';
import { prompts } from './cluster/prompts.mjs';
import { ready, startCluster } from './cluster/three-servers.mjs';
import { openPorts, startServer, startThroughline } from './host.mjs';
import { relayContender, SESSIONS, throughlineContender } from './ingest/contenders.mjs';
import { eventBytes, factEvent, resultOf } from './results.mjs';
import { median, quantile } from './stats.mjs';

const LANES = 32;
/** Sessions that begin. */
const NEW = 30;
const LAYOUTS = { sharded: 'sharded logs', 'per-session': 'a stream each' };
const RELAY = 'a bare relay of bodies as large as the events, with three replicas as well';

const limit = (id, work, atMost, unit) => ({ id, work, against: 'an absolute limit', atMost, unit });
// An election takes up to nine seconds, and the request that was lost its timeout.
const silence = (id, who) =>
  limit(id, `cluster: longest time without an answer to ${who}, with the server that leads killed`, 15, 's');

export default {
  name: 'cluster',
  goals: [
    ...Object.entries(LAYOUTS).map(([layout, words]) => ({
      id: `cluster.relay.${layout}`,
      work: `cluster: results of about 1 KB to ${SESSIONS} sessions, ${words}, three replicas`,
      against: RELAY,
      atLeast: 0.45,
      unit: 'times',
    })),
    limit(
      'cluster.lost',
      'cluster: acknowledged results that are lost after leaders and extractors were killed',
      0,
      'results',
    ),
    limit('cluster.twice', 'cluster: results that count twice then', 0, 'results'),
    {
      id: 'cluster.extractors',
      work: 'cluster: results a second of four extractors, sharded logs, three replicas',
      against: 'one extractor on the same servers',
      atLeast: 2,
      unit: 'times',
    },
    limit(
      'cluster.recovered',
      'cluster: time until another extractor stored what a killed one held',
      15,
      's',
    ),
    silence('cluster.silence.publish', 'a publisher'),
    silence('cluster.silence.compile', 'a request for a prompt'),
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const sizes = quick
    ? { appends: 200, prompts: 30, rounds: 1, counted: 3000, warm: 1000, downMs: 3000 }
    : { appends: 1000, prompts: 200, rounds: 3, counted: 5000, warm: 2000, downMs: 8000 };
  const one = await inTurn(shutdown, async (own) => {
    const { url } = await startServer(own);
    return costs({ url, replicas: 1 }, 'sharded', sizes);
  });
  progress(`one server: ${inWords(one)}`);
  const layouts = {};
  let killed;
  let extractors;
  for (const [layout, words] of Object.entries(LAYOUTS)) {
    if (quick && layout !== 'sharded') continue;
    const say = (line) => progress(`three servers, ${words}: ${line}`);
    layouts[layout] = await inTurn(shutdown, async (own) => {
      const cluster = await startCluster(own);
      const rates = await ingested(cluster, layout, sizes, say);
      if (layout === 'sharded') {
        const env = settings(layout, cluster.replicas);
        extractors = await extractorsTogether({
          cluster,
          env,
          settings: loadConfig(env),
          resultsFrom,
          sizes,
          say,
        });
        killed = await underFaults(cluster, sizes, say);
      }
      const cost = await costs(cluster, layout, sizes);
      say(inWords(cost));
      return { rates, cost };
    });
  }
  const kills = [killed, ...extractors.map((each) => each.killed)];
  const all = (of) => kills.reduce((sum, each) => sum + each[of], 0);
  const longest = (of) => Math.max(...killed.times.map((each) => each[of].one)) / 1000;
  return {
    measured: {
      ...Object.fromEntries(
        Object.entries(layouts).map(([layout, { rates }]) => [`cluster.relay.${layout}`, rates.ratio]),
      ),
      'cluster.lost': all('lost'),
      'cluster.twice': all('twice'),
      'cluster.extractors': extractors.at(-1).rate / extractors[0].rate,
      'cluster.recovered': Math.max(...extractors.map((each) => each.killed.recoveredMs)) / 1000,
      'cluster.silence.publish': longest('publish'),
      'cluster.silence.compile': longest('compile'),
    },
    figures: [
      { name: 'one server, sharded logs', text: inWords(one) },
      ...Object.entries(layouts).flatMap(([layout, { rates, cost }]) => [
        { name: `three servers, ${LAYOUTS[layout]}`, text: inWords(cost) },
        {
          name: `results, three servers, ${LAYOUTS[layout]}`,
          text: `${Math.round(rates.ours)} a second, the relay ${Math.round(rates.relay)}`,
        },
      ]),
      ...extractors.map((each) => ({
        name: `extractors as processes of their own: ${each.processes}`,
        text: together(each),
      })),
      ...killed.times.map(({ stream, electedMs, publish, compile }) => ({
        name: `the server that leads ${stream} killed`,
        text: `another led after ${seconds(electedMs)}; one publisher waited at most ${seconds(publish.one)}, all of them ${seconds(publish.all)}; one request for a prompt ${seconds(compile.one)}, all ${seconds(compile.all)}`,
      })),
      {
        name: 'counted afterwards',
        text: `${killed.acknowledged} results acknowledged, ${killed.lost} lost, ${killed.twice} counted twice`,
      },
    ],
  };
}

/** Runs what needs servers of its own, and ends them. */
async function inTurn(shutdown, work) {
  const own = new Shutdown();
  let over = false;
  const end = async () => {
    if (!over) await own.release(30_000);
    over = true;
  };
  shutdown.add('servers', end);
  try {
    return await work(own);
  } finally {
    await end();
  }
}

function settings(layout, replicas) {
  return { THROUGHLINE_LAYOUT: layout, THROUGHLINE_REPLICAS: String(replicas) };
}

/** What events and prompts take, in milliseconds, and how many events go at once. */
async function costs({ url, replicas }, layout, { appends, prompts: count }) {
  const own = new Shutdown();
  try {
    const env = settings(layout, replicas);
    const nats = await ready(() => openPorts(url, own, loadConfig(env)));
    const asked = await prompts({ nats, url, env, count });
    // Behind it: no service starts on events of dispatches that never were.
    return { ...(await appended(nats, appends)), prompts: asked };
  } finally {
    await own.release(30_000);
  }
}

async function appended({ log }, count) {
  const session = (at) => token(`session-${at % SESSIONS}`, 'session');
  const timed = async (key, at) => {
    const began = performance.now();
    await log.append(key, factEvent(at + 1));
    return performance.now() - began;
  };
  // The first events make the streams.
  for (let at = 0; at < SESSIONS; at += 1) await timed(session(at), at);
  const times = [];
  for (let at = 0; at < count; at += 1) times.push(await timed(session(at), at));
  const first = [];
  for (let at = 0; at < NEW; at += 1) first.push(await timed(token(`first-${at}`, 'session'), at));
  let next = 0;
  const began = performance.now();
  const lane = async () => {
    for (let at = next++; at < count * 5; at = next++) await timed(session(at), at);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { times, first, rate: (count * 5) / ((performance.now() - began) / 1000) };
}

/** Results a second of ours and of the relay, in turn on the same servers, and the ratio. */
async function ingested(cluster, layout, { rounds, counted, warm }, say) {
  const own = new Shutdown();
  const ratios = [];
  const rates = { ours: [], relay: [] };
  try {
    const contenders = {
      // First: it makes the installation.
      ours: await ready(() => throughlineContender({ layout, on: cluster }, own)),
      relay: await ready(() => relayContender(own, eventBytes(), cluster)),
    };
    // The first results make the streams, which takes a cluster some 70 ms for each.
    await contenders.ours.fill(resultsFrom(1, SESSIONS));
    await contenders.ours.work(0);
    let published = 0;
    for (let round = 1; round <= rounds; round += 1) {
      const results = resultsFrom(published + 1, warm + counted);
      published += results.length;
      for (const [name, contender] of Object.entries(contenders)) {
        await contender.fill(results);
        const { rate } = await contender.work(warm);
        rates[name].push(rate);
        say(`round ${round}/${rounds}: ${name} ${Math.round(rate)} results a second`);
      }
      ratios.push(rates.ours.at(-1) / rates.relay.at(-1));
    }
    for (const [name, contender] of Object.entries(contenders)) {
      const stored = (await contender.stored()) - (name === 'ours' ? SESSIONS : 0);
      if (stored !== published) throw new Error(`${name} stored ${stored} of ${published} results`);
    }
  } finally {
    await own.release(30_000);
  }
  return { ours: median(rates.ours), relay: median(rates.relay), ratio: median(ratios) };
}

function resultsFrom(first, count) {
  return Array.from({ length: count }, (_, index) => {
    const n = first + index;
    return { session: `session-${n % SESSIONS}`, body: JSON.stringify(resultOf(n)) };
  });
}

/** All services in one process while leaders are killed. */
async function underFaults(cluster, { downMs }, say) {
  const own = new Shutdown();
  const env = { ...settings('sharded', cluster.replicas), THROUGHLINE_TUNING: 'requestTimeoutMs=2000' };
  try {
    // What they log is known: the server is gone.
    await startThroughline(['admin', 'serve'], cluster.url, own, { ...env, THROUGHLINE_LOG_LEVEL: 'silent' });
    const nats = await openPorts(cluster.url, own, loadConfig(env));
    return await leadersKilled({ nats, cluster, downMs, progress: say });
  } finally {
    await own.release(30_000);
  }
}

function inWords({ times, first, rate, prompts: { warm, next, visible } }) {
  const both = (of) => `p50 ${median(of).toFixed(2)} ms (p99 ${quantile(of, 0.99).toFixed(2)} ms)`;
  return [
    `append ${both(times)}, first of a session ${median(first).toFixed(2)} ms`,
    `${Math.round(rate)} appends/s by ${LANES} at once`,
    `prompt warm ${both(warm)}, with something new ${both(next)}`,
    `publish → visible ${both(visible)}`,
  ].join('; ');
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
