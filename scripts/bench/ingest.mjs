// Taking results in: ours in both layouts of session logs, a bare relay with the same client, and BullMQ on Redis, in turn.
import { availableParallelism } from 'node:os';
import { bullmqContender, relayContender, SESSIONS, throughlineContender } from './ingest/contenders.mjs';
import { eventBytes, resultOf } from './results.mjs';
import { median } from './stats.mjs';

const RELAY = 'relay, bodies of the event\u2019s size';
const OURS = { 'per-session': 'throughline, a stream each', sharded: 'throughline, sharded' };
const TWO = 'throughline, two processes';

const ratioGoal = (id, layout, against, atLeast) => ({
  id,
  work: `ingest, results of about 1 KB to 100 sessions, ${layout}`,
  against,
  atLeast,
  unit: 'times',
});
const cpuGoal = (id, work, atMost) => ({ id, work, against: 'an absolute limit', atMost, unit: 'µs' });
const BARE = 'a bare relay of bodies as large as the events, same client';
const BULLMQ = 'BullMQ on Redis, concurrency 256';

export default {
  name: 'ingest',
  goals: [
    ratioGoal('ingest.relay', 'a stream each', BARE, 0.45),
    ratioGoal('ingest.sharded.relay', 'sharded logs', BARE, 0.55),
    ratioGoal('ingest.bullmq', 'a stream each', BULLMQ, 2),
    ratioGoal('ingest.sharded.bullmq', 'sharded logs', BULLMQ, 2.5),
    cpuGoal('ingest.extractor.cpu', 'ingest, sharded logs: processor time of the extractor for a result', 28),
    cpuGoal('ingest.server.cpu', 'ingest, sharded logs: processor time of nats-server for a result', 25),
    { id: 'ingest.two', work: 'ingest, two worker processes', against: 'one', atLeast: 1.3, unit: 'times' },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  // 60,000 counted results for each contender, in rounds, and in each round some before to warm up its processes.
  const [rounds, counted, warm] = quick ? [3, 10_000, 5000] : [6, 10_000, 10_000];
  const cores = availableParallelism();
  const contenders = {
    relay: await relayContender(shutdown),
    [RELAY]: await relayContender(shutdown, eventBytes()),
    [OURS['per-session']]: await throughlineContender({ layout: 'per-session' }, shutdown),
    [OURS.sharded]: await throughlineContender({ layout: 'sharded' }, shutdown),
    // On two cores the server and one worker are busy already.
    ...(cores > 2 && { [TWO]: await throughlineContender({ layout: 'per-session', workers: 2 }, shutdown) }),
    bullmq: await bullmqContender(shutdown),
  };
  const names = Object.keys(contenders).filter((name) => contenders[name] !== undefined);
  const runs = Object.fromEntries(names.map((name) => [name, []]));
  let published = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const results = Array.from({ length: warm + counted }, () => {
      published += 1;
      return { session: `session-${published % SESSIONS}`, body: JSON.stringify(resultOf(published)) };
    });
    // Turned around each time, so that no contender always follows the same one.
    for (const name of round % 2 === 0 ? names.toReversed() : names) {
      await contenders[name].fill(results);
      const done = await contenders[name].work(warm);
      runs[name].push(done);
      progress(`round ${round}/${rounds}: ${name}: ${inWords(done)}`);
    }
  }
  for (const name of names) {
    const stored = await contenders[name].stored();
    if (stored !== published) throw new Error(`${name} stored ${stored} of ${published} results`);
  }
  const middle = (name, figure) => median(runs[name].map((each) => each[figure]));
  const ratio = (of, to) =>
    runs[to] && runs[of] && median(runs[of].map(({ rate }, round) => rate / runs[to][round].rate));
  return {
    measured: {
      'ingest.relay': ratio(OURS['per-session'], RELAY),
      'ingest.sharded.relay': ratio(OURS.sharded, RELAY),
      'ingest.bullmq': ratio(OURS['per-session'], 'bullmq'),
      'ingest.sharded.bullmq': ratio(OURS.sharded, 'bullmq'),
      'ingest.extractor.cpu': middle(OURS.sharded, 'worker'),
      'ingest.server.cpu': middle(OURS.sharded, 'server'),
      'ingest.two': ratio(TWO, OURS['per-session']),
    },
    figures: [
      ...names.map((name) => ({
        name,
        text: inWords(
          Object.fromEntries(['rate', 'worker', 'server'].map((key) => [key, middle(name, key)])),
        ),
      })),
      { name: 'bytes of a result and its event', text: `${resultBytes()}, ${eventBytes()}` },
      { name: 'cores', text: String(cores) },
    ],
    notes: [
      ...(cores > 2
        ? []
        : [`Two processes are not judged: ${cores} cores, which server and one worker fill.`]),
      ...(names.includes('bullmq')
        ? []
        : ['BullMQ is not measured: it needs redis-server, and `npm ci --prefix scripts/bench/bullmq`.']),
    ],
  };
}

function resultBytes() {
  return Buffer.byteLength(JSON.stringify(resultOf(1001)));
}

function inWords({ rate, worker, server }) {
  const cpu = (of, us) => (us === undefined ? '' : `, ${of} ${us.toFixed(1)} µs`);
  const both = `${cpu('worker', worker)}${cpu('server', server)}`;
  return `${Math.round(rate)} results a second${both === '' ? '' : `; processor time for a result: ${both.slice(2)}`}`;
}
