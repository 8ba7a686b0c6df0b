// Sessions in shards on three servers with three replicas, beside one server: what an append costs, and what happens when
// the server that leads a shard is killed under load.
import { loadConfig } from '../../dist/config/config.js';
import { token } from '../../dist/contracts/names.js';
import { streamOf } from '../../dist/contracts/session-layout.js';
import { freePort } from '../../dist/nats-server/free-port.js';
import { startNatsServer } from '../../dist/nats-server/server-process.js';
import { findServer, openPorts, startServer, temporaryDir } from './host.mjs';
import { factEvent } from './results.mjs';
import { median, quantile } from './stats.mjs';

const SESSIONS = 200;
const LANES = 32;
const KILLED_AFTER_MS = 3000;
const READY_WITHIN_MS = 60_000;

export default {
  name: 'cluster',
  goals: [
    {
      id: 'cluster.lost',
      work: 'cluster: acknowledged events that are gone after the leader of a shard was killed under load',
      against: 'an absolute limit',
      atMost: 0,
      unit: 'events',
    },
    // An election takes up to nine seconds.
    {
      id: 'cluster.silence',
      work: 'cluster: longest wait of a session for its next append, with the leader killed meanwhile',
      against: 'an absolute limit',
      atMost: 15,
      unit: 's',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  const appends = quick ? 300 : 2000;
  const one = await startServer(shutdown);
  const alone = await openPorts(one.url, shutdown, loadConfig({ THROUGHLINE_LAYOUT: 'sharded' }));
  const single = await costs(alone, appends);
  progress(`one server: append p50 ${single.p50.toFixed(2)} ms`);

  const servers = await startCluster(shutdown);
  const url = servers.map((server) => server.url).join(',');
  const config = loadConfig({
    THROUGHLINE_LAYOUT: 'sharded',
    THROUGHLINE_REPLICAS: '3',
    THROUGHLINE_REQUEST_TIMEOUT_MS: '2000',
  });
  const ports = await ready(() => openPorts(url, shutdown, config));
  const replicated = await costs(ports, appends);
  progress(`three servers: append p50 ${replicated.p50.toFixed(2)} ms`);
  const killed = await killedUnderLoad(ports, servers, quick ? 10_000 : 20_000);
  progress(`killed: ${JSON.stringify(killed)}`);
  const figure = ({ p50, p99, first, rate }) =>
    `append p50 ${p50.toFixed(2)} ms (p99 ${p99.toFixed(2)} ms), first of a session ${first.toFixed(2)} ms, ${Math.round(rate)} appends/s by ${LANES} at once`;
  return {
    measured: { 'cluster.lost': killed.lost, 'cluster.silence': killed.longestMs / 1000 },
    figures: [
      { name: 'one server, 64 shards', text: figure(single) },
      { name: 'three servers, three replicas', text: figure(replicated) },
      {
        name: 'leader of a shard killed',
        text: `${killed.acknowledged} events acknowledged, ${killed.lost} gone, ${killed.failed} appends without an answer; no session had one for ${killed.anyMs.toFixed(0)} ms, and one for ${killed.longestMs.toFixed(0)} ms`,
      },
    ],
  };
}

/** What appends to sessions cost, in milliseconds, and how many go at once. */
async function costs({ log }, count) {
  const session = (at) => token(`cost-${at % SESSIONS}`, 'session');
  const timed = async (at) => {
    const began = performance.now();
    await log.append(session(at), factEvent(at + 1));
    return performance.now() - began;
  };
  // The first events make the streams.
  for (let at = 0; at < SESSIONS; at += 1) await timed(at);
  const times = [];
  for (let at = 0; at < count; at += 1) times.push(await timed(at));
  const first = [];
  for (let at = 0; at < SESSIONS; at += 1) {
    const began = performance.now();
    await log.append(token(`first-${at}`, 'session'), factEvent(at + 1));
    first.push(performance.now() - began);
  }
  let next = 0;
  const began = performance.now();
  const lane = async () => {
    for (let at = next++; at < count * 5; at = next++) await timed(at);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const rate = (count * 5) / ((performance.now() - began) / 1000);
  return { p50: median(times), p99: quantile(times, 0.99), first: median(first), rate };
}

/** Appends while the server that leads the shard of one session is killed, and started again; then counts what is there. */
async function killedUnderLoad({ log, connection, layout }, servers, forMs) {
  const session = (lane) => token(`lane-${lane}`, 'session');
  const acknowledged = new Map();
  const failures = [];
  let [over, anyAt, anyMs, longestMs] = [false, performance.now(), 0, 0];
  const append = async (lane) => {
    const of = session(lane);
    const stored = [];
    acknowledged.set(of, stored);
    for (let [at, since] = [0, performance.now()]; !over; at += 1) {
      const appended = await log.append(of, factEvent(at + 1)).catch((fault) => {
        failures.push(fault);
      });
      if (appended === undefined) continue;
      stored.push(appended.sequence);
      const now = performance.now();
      anyMs = Math.max(anyMs, now - anyAt);
      longestMs = Math.max(longestMs, now - since);
      since = now;
      anyAt = now;
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => append(lane));
  await pause(KILLED_AFTER_MS);
  const jsm = await connection.jetstreamManager();
  const { cluster } = await jsm.streams.info(streamOf(layout, session(0)));
  const leader = servers.find(({ name }) => name === cluster.leader);
  await leader.kill();
  await pause(forMs);
  over = true;
  await Promise.all(lanes);
  await leader.start();
  let lost = 0;
  for (const [of, stored] of acknowledged) {
    const { events } = await ready(() => log.read(of, { after: 0 }));
    const there = new Set(events.map(({ sequence }) => sequence));
    lost += stored.filter((sequence) => !there.has(sequence)).length;
  }
  const count = [...acknowledged.values()].reduce((sum, stored) => sum + stored.length, 0);
  return { acknowledged: count, lost, failed: failures.length, anyMs, longestMs };
}

/** Three servers that know each other. */
async function startCluster(shutdown) {
  const source = await findServer();
  const routes = await Promise.all([1, 2, 3].map(() => freePort('127.0.0.1')));
  const known = routes.map((port) => `"nats-route://127.0.0.1:${port}"`).join(', ');
  return Promise.all(
    routes.map(async (route, index) => {
      const name = `node-${index + 1}`;
      const storeDir = await temporaryDir(shutdown);
      const extraConfig = `cluster { name: bench, host: 127.0.0.1, port: ${route}, routes: [${known}] }`;
      const port = await freePort('127.0.0.1');
      const start = () => startNatsServer({ source, storeDir, port, serverName: name, extraConfig });
      let server = await start();
      shutdown.add(name, () => server.stop());
      return {
        name,
        url: server.url,
        kill: () => server.kill(),
        start: async () => {
          server = await start();
        },
      };
    }),
  );
}

/** What `work` gives as soon as it does: a cluster takes a while to elect its leaders. */
async function ready(work) {
  for (const until = performance.now() + READY_WITHIN_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await pause(200);
    }
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
