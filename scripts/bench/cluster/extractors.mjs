// One, two and four extractors as processes of their own on the same servers: how many results they store together, and what
// happens to those that one of them holds when it is killed.
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER, token } from '../../../dist/contracts/names.js';
import { Shutdown } from '../../../dist/engine/runtime/shutdown.js';
import { openPorts, startThroughline } from '../host.mjs';
import { throughlineContender } from '../ingest/contenders.mjs';
import { resultOf } from '../results.mjs';
import { median } from '../stats.mjs';
import { counted } from './leader-killed.mjs';
import { pause, ready } from './three-servers.mjs';

const LAYOUT = 'sharded';
const IN_FLIGHT = 512;
const LOOK_MS = 20;

/**
 * For each number of processes `{ processes, rate, worker, server, killed }`: results a second, processor time of all
 * extractors and of all servers for a result in microseconds, and what followed a kill.
 */
export async function extractorsTogether({ cluster, env, settings, resultsFrom, sizes, say }) {
  // Each of four processes must have run long enough for its code to be compiled before the counting.
  const [warm, count] = [sizes.warm * 6, sizes.counted * 6];
  const found = [];
  let published = 1_000_000;
  for (const processes of [1, 2, 4]) {
    const own = new Shutdown();
    try {
      const contender = await ready(() =>
        throughlineContender({ layout: LAYOUT, workers: processes, on: cluster }, own),
      );
      const rounds = [];
      for (let round = 1; round <= sizes.rounds; round += 1) {
        const results = resultsFrom(published + 1, warm + count);
        published += results.length;
        await contender.fill(results);
        rounds.push(await contender.work(warm));
      }
      const of = (name) => median(rounds.map((each) => each[name]));
      const nats = await openPorts(cluster.url, own, settings);
      const killed = await oneKilled({ nats, url: cluster.url, env, processes, count: sizes.counted });
      found.push({ processes, rate: of('rate'), worker: of('worker'), server: of('server'), killed });
      say(inWords(found.at(-1)));
    } finally {
      await own.release(30_000);
    }
  }
  return found;
}

/** Kills one of the processes while results wait. The only one is started again at once, as a supervisor would. */
async function oneKilled({ nats, url, env, processes, count }) {
  const { connection, source } = nats;
  const jsm = await connection.jetstreamManager({ checkAPI: false });
  const info = () => ready(() => jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER));
  const acknowledged = await published(source, `extractors-${processes}`, count);
  const before = (await info()).num_pending;
  const own = new Shutdown();
  try {
    const start = () => startThroughline(['admin', 'serve', '--only', 'extractor'], url, own, env);
    const [victim] = await Promise.all(Array.from({ length: processes }, start));
    for (let now = await info(); now.num_pending > before / 2; now = await info()) await pause(LOOK_MS);
    victim.kill('SIGKILL');
    const killedAt = performance.now();
    const restarted = processes === 1 ? start() : undefined;
    const { delivered, num_ack_pending: held } = await info();
    for (;;) {
      const { ack_floor, num_pending, num_ack_pending } = await info();
      if (ack_floor.stream_seq >= delivered.stream_seq || num_pending + num_ack_pending === 0) break;
      await pause(LOOK_MS);
    }
    const recoveredMs = performance.now() - killedAt;
    await restarted;
    for (let now = await info(); now.num_pending + now.num_ack_pending > 0; now = await info())
      await pause(LOOK_MS);
    return { held, recoveredMs, ...(await counted(nats, acknowledged)) };
  } finally {
    await own.release(30_000);
  }
}

/** Sequences of the acknowledged results, by session. */
async function published(source, prefix, count) {
  const acknowledged = new Map();
  const store = async (n) => {
    const session = token(`${prefix}-${n % 50}`, 'session');
    const body = Buffer.from(JSON.stringify({ ...resultOf(n), result_id: `${session}:${n}` }));
    const { sequence } = await ready(() =>
      source.publish(`dispatch.${session}.implementer`, body, `${session}:${n}`),
    );
    acknowledged.set(session, [...(acknowledged.get(session) ?? []), sequence]);
  };
  for (let from = 0; from < count; from += IN_FLIGHT) {
    const size = Math.min(IN_FLIGHT, count - from);
    await Promise.all(Array.from({ length: size }, (_, index) => store(from + index + 1)));
  }
  return acknowledged;
}

export function inWords({ rate, worker, server, killed }) {
  const micros = (of) => (of === undefined ? '' : `, ${of.toFixed(0)}`);
  return (
    `${Math.round(rate)} results a second; processor time of a result in the extractors and in the servers, µs` +
    `${micros(worker)}${micros(server)}; one killed while up to ${killed.held} were in work: ` +
    `recovered after ${(killed.recoveredMs / 1000).toFixed(1)} s, ` +
    `${killed.acknowledged} acknowledged, ${killed.lost} lost, ${killed.twice} counted twice`
  );
}
