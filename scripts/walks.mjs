// Prints how many files of the services run for one result, one prompt and one command: by precise coverage of one process
// that runs them as `throughline admin serve` does, after a warm-up. `npm run walks`; with `--json` the files by name.
import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, JSONCodec } from 'nats';
import { startThroughline } from '../dist/server.js';
import { optionsOrExit } from './options.mjs';

const { values: options } = optionsOrExit('walks', {
  options: { json: { type: 'boolean', default: false } },
});
const DIST = new URL('../dist/', import.meta.url).href;
const SESSION = 'walks';
const WARM_UP = 3;
/** A file that runs at times of its own, such as a heartbeat's, is not in each of so many rounds. */
const ROUNDS = 5;
/** Milliseconds after which an operation has ended, its acknowledgement included. */
const SETTLED = 150;
const { encode, decode } = JSONCodec();
let added = 0;

const store = await mkdtemp(join(tmpdir(), 'throughline-walks-'));
const running = await startThroughline({ server: { store }, services: ['extractor', 'compiler', 'tools'] });
const connection = await connect({ servers: running.url });
const inspector = new Session();
inspector.connect();
try {
  const walks = { result: publish, 'prompt.compile': compile, 'tool.task-add': addTask };
  for (let round = 0; round < WARM_UP; round += 1) for (const walk of Object.values(walks)) await walk();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const files = {};
  for (const [name, walk] of Object.entries(walks)) files[name] = await filesOf(walk);
  if (options.json) console.log(JSON.stringify(files, null, 2));
  else
    for (const [name, { length }] of Object.entries(files)) console.log(`${name.padEnd(16)}${length} files`);
} finally {
  inspector.disconnect();
  await connection.close();
  await running.close();
  await rm(store, { recursive: true, force: true });
}

/** One result, until its event is stored and it is acknowledged. */
async function publish() {
  const event = connection.subscribe(`session.${SESSION}.>`, { max: 1 });
  await connection.flush();
  const result = { task_id: 'task-1', status: 'completed', summary: 'The parser accepts an empty line' };
  await connection.jetstream().publish(`dispatch.${SESSION}.implementer`, encode(result));
  for await (const _ of event);
  await delay(SETTLED);
}

/** One prompt, until it is answered. */
function compile() {
  return ask('prompt.compile', { taskId: 'task-1', taskPrompt: 'Make the parser accept an empty line.' });
}

/** One command, until it is answered. */
function addTask() {
  added += 1;
  return ask('tool.task-add', { content: `Make the parser accept empty line ${added}` });
}

async function ask(subject, request) {
  const message = encode({ session: SESSION, ...request });
  const reply = decode((await connection.request(subject, message, { timeout: 20_000 })).data);
  if (reply.error !== undefined) throw new Error(`${subject}: ${JSON.stringify(reply.error)}`);
}

/** The files of which a function ran in each round. */
async function filesOf(walk) {
  let common;
  for (let round = 0; round < ROUNDS; round += 1) {
    await delay(SETTLED);
    await ranSince();
    await walk();
    const files = await ranSince();
    common = common?.filter((file) => files.includes(file)) ?? files.sort();
  }
  return common;
}

/** The files of which a function ran since this was last called. */
async function ranSince() {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  return result
    .filter(
      ({ url, functions }) => url.startsWith(DIST) && functions.some(({ ranges }) => ranges[0].count > 0),
    )
    .map(({ url }) => url.slice(DIST.length));
}
