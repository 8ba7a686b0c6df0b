// The whole path on real input: a recorded session, and the history of a repository with --git PATH, go in as
// results; the prompt for the next task comes out. Exit code 0 only if it holds the facts that it must hold.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommits } from '../dist/cli/git-history.js';
import { loadConfig } from '../dist/config/config.js';
import { silentLogger } from '../dist/engine/ports/clients.js';
import { Shutdown } from '../dist/engine/runtime/shutdown.js';
import { connectThroughline } from '../dist/index.js';
import { findNatsServer } from '../dist/nats/server/find-server.js';
import { startNatsServer } from '../dist/nats/server/server-process.js';
import { serve } from '../dist/services/serve.js';
import { countOrExit, optionsOrExit } from './options.mjs';

const RECORDED = new URL('demo-session.jsonl', import.meta.url);
const NEXT_TASK = {
  taskId: '5.1',
  taskPrompt:
    'Make prompt.compile wait for the dispatch named in `after`, with a deadline: read the tail again when the session log announces an event, and answer not_caught_up with the snapshot sequence when time is up.',
};
/** What the prompt must hold, from different dispatches of the recorded session. */
const EXPECTED = [
  'required fix: Bound the wait of prompt.compile for `after` by a deadline',
  'required fix: Wake the wait on the event of the dispatch named in `after`',
  'critical, src/workers/prompt-compiler.ts: No deadline: compile waits',
  'important, src/nats/session-log.ts: watch stays open after a compile wait hits its deadline',
  'src/prompt/stable-prefix.ts',
  'Never treat a sequence as dense: read() derives the count of missed events from seq - after',
  'SessionLog.watch wakes a compile wait',
];

const { values: options } = optionsOrExit('demo', {
  options: {
    git: { type: 'string' },
    limit: { type: 'string', default: '200' },
    session: { type: 'string', default: `demo-${process.pid}` },
    help: { type: 'boolean' },
  },
});
if (options.help) {
  console.log('usage: ./scripts/demo [--git PATH] [--limit COMMITS] [--session NAME]');
  process.exit(0);
}
const limit = countOrExit('demo', 'limit', options.limit);

const shutdown = new Shutdown();
let exitCode = 1;
try {
  exitCode = (await demo()) ? 0 : 1;
} catch (error) {
  console.error(`demo: ${error.message}`);
} finally {
  await shutdown.release(10_000);
}
process.exit(exitCode);

async function demo() {
  const config = loadConfig();
  const url = await step('NATS server', async (say) => {
    if (config.natsUrl !== undefined) return say(config.natsUrl, 'given by NATS_URL');
    const { platform, arch } = process;
    const source = await findNatsServer({
      env: config.env,
      cacheDir: config.cacheDir,
      platform,
      arch,
      progress,
    });
    const storeDir = await mkdtemp(join(tmpdir(), 'throughline-demo-'));
    shutdown.add('the store directory', () => rm(storeDir, { recursive: true, force: true }));
    const server = await startNatsServer({ source, storeDir });
    shutdown.add('the NATS server', () => server.stop());
    return say(server.url, `${source.version}, found by ${source.foundBy}`);
  });

  await step('services', async (say) => {
    await serve(url, { config, logger: silentLogger, shutdown });
    return say(undefined, 'extractor, prompt-compiler and session-tools on one connection');
  });
  const client = await connectThroughline({ url });
  shutdown.add('the client', () => client.close());

  let last = await step('recorded session', async (say) => {
    const lines = (await readFile(RECORDED, 'utf8')).trimEnd().split('\n');
    let sequence = 0;
    for (const [index, line] of lines.entries()) {
      const { role, body } = JSON.parse(line);
      ({ sequence } = await client.publishText(options.session, role, body));
      progressBar('results', index + 1, lines.length);
    }
    return say(sequence, `${lines.length} results published`);
  });

  if (options.git !== undefined) {
    last = await step('git history', async (say) => {
      const { commits } = await readCommits({ path: options.git, env: process.env }, { limit });
      let sequence = last;
      for (const [index, commit] of commits.entries()) {
        ({ sequence } = await client.publishText(options.session, 'implementer', JSON.stringify(commit)));
        progressBar('commits', index + 1, commits.length);
      }
      return say(sequence, `${commits.length} commits of ${options.git} published`);
    });
  }

  const request = { session: options.session, ...NEXT_TASK };
  const reply = await step('prompt, with everything published', async (say) => {
    const answer = await client.compile({ ...request, after: last });
    return say(answer, `${answer.replayed} events replayed, from ${snapshotText(answer)}`);
  });
  await step('prompt, once more', async (say) => {
    const answer = await client.compile(request);
    return say(answer, `${answer.replayed} events replayed`);
  });

  console.log(`\n${'-'.repeat(78)}\n${reply.prompt}\n${'-'.repeat(78)}`);
  const { factsShown, factsTotal, tokenEstimate, sequence } = reply;
  console.log(
    `${factsShown} of ${factsTotal} facts, about ${tokenEstimate} tokens, at session sequence ${sequence}`,
  );
  const missing = EXPECTED.filter((words) => !reply.prompt.includes(words));
  for (const words of missing) console.error(`missing in the prompt: ${words}`);
  if (missing.length === 0) console.log(`all ${EXPECTED.length} expected facts are in the prompt`);
  return missing.length === 0;
}

function snapshotText({ snapshotSequence }) {
  return snapshotSequence === 0 ? 'no snapshot' : `the snapshot at ${snapshotSequence}`;
}

/** Runs one step and prints its name, what came of it, and how long it took. */
async function step(name, work) {
  const started = performance.now();
  let text = '';
  const result = await work((value, said) => {
    text = said;
    return value;
  });
  clearLine();
  console.log(`${name.padEnd(36)}${(performance.now() - started).toFixed(1).padStart(9)} ms  ${text}`);
  return result;
}

function progress(line) {
  console.error(line);
}

function progressBar(what, done, total) {
  if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${total} ${what}`);
}

function clearLine() {
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[K');
}
