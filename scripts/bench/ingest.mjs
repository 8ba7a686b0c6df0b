// Taking results in: ours, a bare relay with the same client, BullMQ on Redis, and ours with two processes, in turn.
import { availableParallelism } from 'node:os';
import { bullmqContender, relayContender, SESSIONS, throughlineContender } from './ingest/contenders.mjs';
import { resultOf } from './results.mjs';
import { median } from './stats.mjs';

const WORK = 'ingest, results of about 1 KB to 100 session streams';

export default {
  name: 'ingest',
  goals: [
    { id: 'ingest.relay', work: WORK, against: 'a bare relay, same client', atLeast: 0.7, unit: 'times' },
    {
      id: 'ingest.bullmq',
      work: WORK,
      against: 'BullMQ on Redis, concurrency 256',
      atLeast: 3,
      unit: 'times',
    },
    { id: 'ingest.two', work: 'ingest, two worker processes', against: 'one', atLeast: 1.3, unit: 'times' },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  // 60,000 counted results for each contender, in rounds, and in each round some before to warm up its processes.
  const [rounds, counted, warm] = quick ? [3, 5000, 5000] : [6, 10_000, 10_000];
  const contenders = {
    relay: await relayContender(shutdown),
    throughline: await throughlineContender(1, shutdown),
    'throughline, two processes': await throughlineContender(2, shutdown),
    bullmq: await bullmqContender(shutdown),
  };
  const names = Object.keys(contenders).filter((name) => contenders[name] !== undefined);
  const rates = Object.fromEntries(names.map((name) => [name, []]));
  let published = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const results = Array.from({ length: warm + counted }, () => {
      published += 1;
      return { session: `session-${published % SESSIONS}`, body: JSON.stringify(resultOf(published)) };
    });
    // Turned around each time, so that no contender always follows the same one.
    for (const name of round % 2 === 0 ? names.toReversed() : names) {
      await contenders[name].fill(results);
      rates[name].push(await contenders[name].work(warm));
      progress(`round ${round}/${rounds}: ${name} ${Math.round(rates[name].at(-1))} results a second`);
    }
  }
  for (const name of names) {
    const stored = await contenders[name].stored();
    if (stored !== published) throw new Error(`${name} stored ${stored} of ${published} results`);
  }
  const ratio = (of, to) => rates[to] && median(rates[of].map((rate, round) => rate / rates[to][round]));
  const cores = availableParallelism();
  return {
    measured: {
      'ingest.relay': ratio('throughline', 'relay'),
      'ingest.bullmq': ratio('throughline', 'bullmq'),
      // On two cores the server and one worker are busy already.
      'ingest.two': cores > 2 ? ratio('throughline, two processes', 'throughline') : undefined,
    },
    figures: [
      ...names.map((name) => ({ name, text: `${Math.round(median(rates[name]))} results a second` })),
      { name: 'two processes to one', text: ratio('throughline, two processes', 'throughline').toFixed(2) },
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
