// Installations with many sessions, in both layouts: what the server needs, and what a session waits for.
import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { loadConfig } from '../../dist/config/config.js';
import { streamOf, token } from '../../dist/contracts/names.js';
import { Shutdown } from '../../dist/engine/runtime/shutdown.js';
import { startNatsServer } from '../../dist/nats/server/server-process.js';
import { goalsOf } from './goals.mjs';
import { findServer, openPorts, startThroughline, startUp, temporaryDir } from './host.mjs';
import { factEvent } from './results.mjs';
import { EVENTS_EACH, makeStreams, publishAll } from './sessions-filled.mjs';
import { median, quantile } from './stats.mjs';

/** One session in ten has all its events before the others begin: it has been quiet for long then. */
const QUIET = 10;
const TIMED = 200;
const TASK = { taskId: 'next', taskPrompt: 'Measure module 12' };
const LISTED_WITHIN_MS = 60_000;
/** A prompt right after `up` has a goal with so many. */
const ON_START = 1000;
/** Entries of the index that are written at a time. */
const AT_ONCE = 500;
/** The list of so many sessions has a goal. */
const LISTED = { 10000: 0.25, 100000: 2 };

export default {
  name: 'sessions',
  goals: [
    ...goalsOf(`
      sessions.server | sessions: server with 100,000 sessions in shards, resident after its restart | an absolute limit | at most 500 MB
      sessions.restart | sessions: restart of that server until it takes an event | an absolute limit | at most 5 s
      sessions.up | sessions: a prompt right after \`up\` is ready, with 1,000 sessions and a stream each | an absolute limit | at most 1 s
      sessions.first | sessions: first event of a new session in shards, p50 | an event of a session that is there, p50 | at most 3 times
      sessions.warm | sessions: warm prompt beside 100,000 sessions in shards, p50 | beside 1,000 | at most 1.2 times
    `),
    ...Object.entries(LISTED).map(([count, atMost]) => ({
      id: `sessions.list.${count}`,
      work: `sessions: all pages of the list of ${Number(count).toLocaleString('en')} sessions, as the keeper left them`,
      against: 'an absolute limit',
      atMost,
      unit: 's',
    })),
    // Of a session that was quiet for long, the server may have to look where it was active last.
    {
      id: 'sessions.tail',
      work: 'sessions: what is new in a session of shards that was active long ago, when nothing is, p50',
      against: 'in one that was active lately',
      atMost: 1.5,
      unit: 'times',
    },
  ],
  run,
};

async function run({ quick, progress, shutdown }) {
  // With a stream each the server holds gigabytes beyond 10,000 sessions, and takes ever longer to make one.
  const wanted = quick
    ? { sharded: [200, 1000], 'per-session': [200, 1000] }
    : { sharded: [1000, 10_000, 100_000], 'per-session': [1000, 10_000] };
  const rows = [];
  let fewest;
  let warm;
  for (const [layout, counts] of Object.entries(wanted)) {
    for (const count of counts) {
      const measured = await measure(layout, count, { progress, shutdown });
      rows.push(measured.row);
      fewest ??= measured;
      if (layout === 'sharded' && count === counts.at(-1)) {
        warm = await warmInTurn(fewest, measured);
        await fewest.finish();
      }
      if (measured !== fewest) await measured.finish();
    }
  }
  const many = rows.filter(({ layout }) => layout === 'sharded').at(-1);
  return {
    measured: {
      'sessions.server': quick ? undefined : many.residentAfter,
      'sessions.restart': quick ? undefined : many.restart,
      'sessions.up': rows.find((row) => row.layout === 'per-session' && row.count === ON_START)?.up.prompt,
      'sessions.first': many.first / many.append,
      'sessions.warm': warm.many / warm.few,
      'sessions.tail': many.quietTail / many.busyTail,
      ...Object.fromEntries(
        Object.keys(LISTED).map((count) => [
          `sessions.list.${count}`,
          rows.find((row) => row.layout === 'sharded' && row.count === Number(count))?.pages,
        ]),
      ),
    },
    figures: rows.map(({ layout, count, ...row }) => ({
      name: `${count} sessions, ${layout}`,
      text: inWords(row),
    })),
    notes: [
      `sessions: warm prompts beside the fewest and the most sessions in shards, asked for in turn, p50: ${warm.few.toFixed(2)} and ${warm.many.toFixed(2)} ms.`,
      'sessions: when the server starts it reads what was stored in the time for which it knows message ids, 30 s in shards and two minutes in a stream of a session: the restart comes after that.',
      `sessions: sessions of ${EVENTS_EACH} events of 2.6 KB, written by the acknowledged publishes of one process; one session in ${QUIET} has all of its own before the others begin. A prompt is cold when its session is asked for the first time after a restart of the server, and without a snapshot.`,
    ],
  };
}

function inWords(row) {
  const ms = (value) => `${value.toFixed(2)} ms`;
  return (
    `${Math.round(row.rate)} events/s; server ${row.resident} MB, ${row.files} files; restart ${row.restart.toFixed(2)} s, ` +
    `then ${row.residentAfter} MB; append ${ms(row.append)}, first of a session ${ms(row.first)}; ` +
    `nothing new ${ms(row.busyTail)}, in a quiet session ${ms(row.quietTail)} (at first ${ms(row.firstTail)}); ` +
    `prompt cold ${ms(row.cold.p50)} (p99 ${ms(row.cold.p99)}), warm ${ms(row.warm.p50)} (p99 ${ms(row.warm.p99)}); ` +
    `how far all have come ${ms(row.activity)}; session ls ${ms(row.list[0])} at first, then ${ms(row.list[1])}, ` +
    `all pages ${row.pages.toFixed(2)} s` +
    (row.up
      ? `; up is ready after ${row.up.ready.toFixed(2)} s, then a prompt ${row.up.prompt.toFixed(2)} s`
      : '')
  );
}

async function measure(layout, count, { progress, shutdown }) {
  const own = new Shutdown();
  const end = () => own.release(60_000);
  shutdown.add(`the server with ${count} sessions`, end);
  const storeDir = await temporaryDir(own);
  const source = await findServer();
  let server = await startNatsServer({ source, storeDir });
  own.add('nats-server', () => server.stop());
  const config = loadConfig({ THROUGHLINE_LAYOUT: layout });
  const session = (index) => token(`session-${index}`, 'session');
  const quiet = Math.floor(count / QUIET);
  const busySession = (at) => session(quiet + (at % (count - quiet)));
  const row = { layout, count };
  const say = (line) => progress(`${layout}, ${count} sessions: ${line}`);

  const writing = new Shutdown();
  own.add('what writes', () => writing.release(10_000));
  const ports = await openPorts(server.url, writing, config);
  await makeStreams(ports, { count, session, say });
  const began = performance.now();
  await publishAll(ports, { count, quiet, session, say });
  const stored = performance.now();
  row.rate = (count * EVENTS_EACH) / ((stored - began) / 1000);
  const { log } = ports;
  row.append = median(await timed(TIMED, (at) => log.append(busySession(at), factEvent(1_000_000 + at))));
  row.first = median(
    await timed(TIMED, (at) => log.append(token(`new-${at}`, 'session'), factEvent(at + 1))),
  );
  const busyEnds = await endsOf(ports, busySession);
  const quietEnds = await endsOf(ports, (at) => session(at % quiet));
  row.resident = resident(server.pid);
  row.files = await filesIn(storeDir);
  say(`server ${row.resident} MB, ${row.files} files; now its restart`);
  const known = await rememberedMs(ports, session(0));
  await writing.release(10_000);

  await new Promise((resolve) => setTimeout(resolve, Math.max(0, stored + known - performance.now())));
  await server.stop();
  if (count === ON_START) row.up = await promptAfterUp(storeDir, session(0));
  const stopped = performance.now();
  server = await startNatsServer({ source, storeDir });
  const reading = new Shutdown();
  own.add('what reads', () => reading.release(10_000));
  const after = await openPorts(server.url, reading, config);
  await after.log.append(token('restarted', 'session'), factEvent(2_000_000));
  row.restart = (performance.now() - stopped) / 1000;
  row.residentAfter = resident(server.pid);
  say(`restart ${row.restart.toFixed(2)} s, ${row.residentAfter} MB; now its tails and prompts`);
  Object.assign(row, await tailsOf(after, busyEnds, quietEnds));
  [row.activity] = await timed(1, () => after.log.activity());
  await startThroughline(['admin', 'serve', '--only', 'compiler', 'tools'], server.url, reading);
  const compile = async (index) => {
    const reply = await asked(after, 'prompt.compile', { session: session(index), ...TASK });
    if (!(reply.factsTotal > 0)) throw new Error(`${session(index)}: ${JSON.stringify(reply).slice(0, 200)}`);
  };
  const chosen = (at) => Math.floor((at * count) / TIMED);
  row.cold = spread(await timed(TIMED, (at) => compile(chosen(at))));
  // Once the cache is full, a state gets in when it is asked for the second time.
  await timed(TIMED, (at) => compile(chosen(at)));
  row.warm = spread(await timed(TIMED, (at) => compile(chosen(at))));
  // Last, since a list has sessions folded for a while after its answer.
  const finish = async () => {
    row.list = await listed(after);
    row.pages = await allPages(after, { count, session, say });
    say(inWords(row));
    await end();
  };
  return { row, finish, warm: (at) => compile(chosen(at)) };
}

/** Seconds until `up` is ready on a store, and from then on until a prompt is there. */
async function promptAfterUp(storeDir, session) {
  const own = new Shutdown();
  try {
    const began = performance.now();
    const { url } = await startUp(storeDir, own);
    const ready = performance.now();
    const reply = await asked(await openPorts(url, own), 'prompt.compile', { session, ...TASK });
    if (!(reply.factsTotal > 0)) throw new Error(JSON.stringify(reply).slice(0, 200));
    return { ready: (ready - began) / 1000, prompt: (performance.now() - ready) / 1000 };
  } finally {
    await own.release(60_000);
  }
}

/** How long the server knows message ids in the stream of a session, in milliseconds. */
async function rememberedMs({ connection, layout }, session) {
  const jsm = await connection.jetstreamManager();
  return (await jsm.streams.info(streamOf(layout, session))).config.duplicate_window / 1e6;
}

/** The first list, and one after all figures of the first page have been read. */
async function listed(ports) {
  const list = () => asked(ports, 'tool.session-list', {});
  const [first] = await timed(1, list);
  for (const until = performance.now() + LISTED_WITHIN_MS; performance.now() < until; ) {
    const { sessions } = await list();
    if (sessions.every(({ brief }) => !brief)) break;
  }
  return [first, median(await timed(5, list))];
}

/**
 * Seconds for all pages of the list, with the entries in the index that a keeper writes: it would need minutes to fold all
 * sessions. All entries have the figures of one session.
 */
async function allPages(ports, { count, session, say }) {
  const { sessions } = await asked(ports, 'tool.session-list', { names: [session(0)] });
  const { sequence: _, at: __, brief: ___, ...figures } = sessions[0];
  const tasks = [1, 2, 3, 4].map((n) => `TAS-${n}\tWrite part ${n} of the module, with its tests`);
  const files = [1, 2, 3, 4, 5, 6].map((n) => `src/packages/module-${n}/part-${n}.ts`);
  const work = [...tasks, ...files].join('\n');
  const active = await ports.log.activity();
  for (let from = 0; from < active.length; from += AT_ONCE) {
    const some = active.slice(from, from + AT_ONCE);
    await Promise.all(
      some.map(({ session, sequence, at }) =>
        ports.index.put({ v: 1, sequence, at, figures: { ...figures, session, work } }),
      ),
    );
    if (from % 10_000 === 0) say(`${from} entries of the index`);
  }
  const pages = async () => {
    let seen = 0;
    let cursor;
    do {
      const page = await asked(ports, 'tool.session-list', { limit: 200, ...(cursor && { cursor }) });
      seen += page.sessions.length;
      cursor = page.next;
    } while (cursor !== undefined);
    if (seen < count) throw new Error(`the list has ${seen} of ${count} sessions`);
  };
  await pages();
  return median(await timed(3, pages)) / 1000;
}

/** Warm prompts of two installations in turn, p50: what slows the machine down slows both down. */
async function warmInTurn(few, many) {
  const [one, other] = [[], []];
  await timed(TIMED, async (at) => {
    one.push(...(await timed(1, () => few.warm(at))));
    other.push(...(await timed(1, () => many.warm(at))));
  });
  return { few: median(one), many: median(other) };
}

/** Where some sessions end. */
function endsOf({ log }, session) {
  const look = async (at) => ({ session: session(at), after: await log.newest(session(at)) });
  return Promise.all(Array.from({ length: TIMED }, (_, at) => look(at)));
}

/** Milliseconds to see that a session has nothing new, p50: of those active lately, and in turn of those long quiet. */
async function tailsOf({ log }, busyEnds, quietEnds) {
  const look = async ({ session, after }) => {
    const { events } = await log.read(session, { after });
    if (events.length > 0) throw new Error(`${session} has ${events.length} events after ${after}`);
  };
  // The first look at a stream asks what it is, and the first one into a block of its file has the server load that.
  for (const end of busyEnds) await look(end);
  const firstTail = median(await timed(TIMED, (at) => look(quietEnds[at])));
  const [busy, quiet] = [[], []];
  await timed(TIMED, async (at) => {
    busy.push(...(await timed(1, () => look(busyEnds[at]))));
    quiet.push(...(await timed(1, () => look(quietEnds[at]))));
  });
  return { busyTail: median(busy), quietTail: median(quiet), firstTail };
}

async function asked({ connection }, subject, request) {
  return (await connection.request(subject, JSON.stringify(request), { timeout: 120_000 })).json();
}

async function filesIn(dir) {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  return found.filter((each) => each.isFile()).length;
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
