// Installations with many sessions, in both layouts: what the server needs, and what a session waits for.
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { loadConfig } from '../../dist/config/config.js';
import { token } from '../../dist/contracts/names.js';
import { startNatsServer } from '../../dist/nats-server/server-process.js';
import { Shutdown } from '../../dist/runtime/shutdown.js';
import { findServer, openPorts, startThroughline, temporaryDir } from './host.mjs';
import { factEvent } from './results.mjs';
import { median, quantile } from './stats.mjs';

const EVENTS_EACH = 20;
const AT_ONCE = 64;
const COMPILED = 200;
const TIMED = 200;
const LAYOUTS = ['per-session', 'sharded'];

export default {
  name: 'sessions',
  goals: [
    {
      id: 'sessions.server',
      work: 'sessions: server with 10,000 sessions in shards, resident after its restart',
      against: 'an absolute limit',
      atMost: 500,
      unit: 'MB',
    },
    {
      id: 'sessions.restart',
      work: 'sessions: restart of that server until it takes an event',
      against: 'an absolute limit',
      atMost: 5,
      unit: 's',
    },
    {
      id: 'sessions.first',
      work: 'sessions: first event of a new session in shards, p50',
      against: 'an event of a session that is there, p50',
      atMost: 3,
      unit: 'times',
    },
    {
      id: 'sessions.warm',
      work: 'sessions: warm prompt beside 10,000 sessions in shards, p50',
      against: 'beside 1,000',
      atMost: 1.2,
      unit: 'times',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  // The server holds hundreds of megabytes for this many streams: no more of them.
  const counts = quick ? [200, 1000] : [1000, 10_000];
  const rows = [];
  for (const layout of LAYOUTS) {
    for (const count of counts) rows.push(await measure(layout, count, { progress, shutdown }));
  }
  const of = (count) => rows.find((row) => row.layout === 'sharded' && row.count === count);
  const [few, many] = counts.map(of);
  return {
    measured: {
      'sessions.server': quick ? undefined : many.residentAfter,
      'sessions.restart': quick ? undefined : many.restart,
      'sessions.first': many.first / many.append,
      'sessions.warm': many.warm.p50 / few.warm.p50,
    },
    figures: rows.map(({ layout, count, ...row }) => ({
      name: `${count} sessions, ${layout}`,
      text: inWords(row),
    })),
    notes: [
      `sessions: ${counts.join(' and ')} sessions of ${EVENTS_EACH} events of 2.6 KB, a process each for the events and the prompts.`,
    ],
  };
}

function inWords(row) {
  const ms = (value) => `${value.toFixed(2)} ms`;
  return (
    `${Math.round(row.rate)} events/s; server ${row.resident} MB, ${row.files} files; restart ${row.restart.toFixed(2)} s, ` +
    `then ${row.residentAfter} MB; append ${ms(row.append)}, first of a session ${ms(row.first)}; ` +
    `prompt cold ${ms(row.cold.p50)} (p99 ${ms(row.cold.p99)}), warm ${ms(row.warm.p50)} (p99 ${ms(row.warm.p99)}); ` +
    `list of sessions ${ms(row.list)}`
  );
}

async function measure(layout, count, { progress, shutdown }) {
  const own = new Shutdown();
  const end = () => own.release(30_000);
  shutdown.add(`the server with ${count} sessions`, end);
  const storeDir = await temporaryDir(own);
  const source = await findServer();
  let server = await startNatsServer({ source, storeDir });
  own.add('nats-server', () => server.stop());
  const config = loadConfig({ THROUGHLINE_LAYOUT: layout });
  const session = (index) => token(`session-${index}`, 'session');
  const row = { layout, count };

  const writing = new Shutdown();
  const { log } = await openPorts(server.url, writing, config);
  const began = performance.now();
  // Round after round, as agents of many sessions do: the events of a session lie far apart.
  for (let round = 0; round < EVENTS_EACH; round += 1) {
    await inTurn(count, (index) => log.append(session(index), factEvent(index * EVENTS_EACH + round + 1)));
    progress(`${layout}: event ${round + 1} of ${EVENTS_EACH} of ${count} sessions`);
  }
  row.rate = (count * EVENTS_EACH) / ((performance.now() - began) / 1000);
  row.append = median(await timed(TIMED, (at) => log.append(session(at), factEvent(1_000_000 + at))));
  row.first = median(
    await timed(TIMED, (at) => log.append(token(`new-${at}`, 'session'), factEvent(at + 1))),
  );
  const [list] = await timed(1, () => log.sessions());
  row.list = list;
  row.resident = resident(server.pid);
  row.files = (await readdir(storeDir, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  ).length;
  await writing.release(10_000);

  await server.stop();
  const stopped = performance.now();
  server = await startNatsServer({ source, storeDir });
  const reading = new Shutdown();
  const ports = await openPorts(server.url, reading, config);
  await ports.log.append(session(0), factEvent(2_000_000));
  row.restart = (performance.now() - stopped) / 1000;
  row.residentAfter = resident(server.pid);
  await startThroughline(['serve', '--only', 'compiler'], server.url, reading);
  const compile = async (index) => {
    const request = JSON.stringify({
      session: session(index),
      taskId: 'next',
      taskPrompt: 'Measure module 12',
    });
    const reply = (await ports.connection.request('prompt.compile', request, { timeout: 60_000 })).json();
    if (!(reply.factsTotal > 0)) throw new Error(`${session(index)}: ${JSON.stringify(reply).slice(0, 200)}`);
  };
  const chosen = (at) => Math.floor((at * count) / COMPILED);
  row.cold = spread(await timed(COMPILED, (at) => compile(chosen(at))));
  // Once the cache is full, a state gets in when it is asked for the second time.
  await timed(COMPILED, (at) => compile(chosen(at)));
  row.warm = spread(await timed(COMPILED, (at) => compile(chosen(at))));
  await reading.release(10_000);
  await end();
  progress(`${layout}, ${count} sessions: ${inWords(row)}`);
  return row;
}

function spread(times) {
  return { p50: median(times), p99: quantile(times, 0.99) };
}

/** Milliseconds of each run, one after the other. */
async function timed(count, work) {
  const times = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    await work(at);
    times.push(performance.now() - began);
  }
  return times;
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
