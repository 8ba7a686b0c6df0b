import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownServer, type ServerInUse } from '../config/user-server.js';
import { silentLogger } from '../engine/ports/logger-and-clock.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { startNatsServer } from '../nats/server/server-process.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { serve } from '../services/serve.js';
import type { Command, Flags } from './cli-command.js';
import { type Cli, cliOf, note, out, outForAgent, withClient } from './command-context.js';
import { Interrupted } from './output.js';
import { serverToStart } from './own-server.js';
import { onFirstSignal, runUntilSignal } from './signals.js';

/** A scripted agent writes this for a task: the line that is shown, and what it computes. */
type Attempt = readonly [code: string, result: number];

interface Task {
  readonly id: string;
  readonly text: string;
  readonly expected: number;
  /** Written by an agent whose prompt says nothing of cents. */
  readonly inFloats: Attempt;
  readonly inCents: Attempt;
}

const CART: Task = {
  id: '1',
  text: 'Add up the cart: 0.10 and 0.20',
  expected: 0.3,
  inFloats: ['0.1 + 0.2', 0.1 + 0.2],
  inCents: ['(10 + 20) / 100', (10 + 20) / 100],
};
const ORDER: Task = {
  id: '2',
  text: 'Give the price of an order: 100 pieces at 4.35',
  expected: 435,
  inFloats: ['4.35 * 100', 4.35 * 100],
  inCents: ['(435 * 100) / 100', (435 * 100) / 100],
};

/** The first agent returns this, because its test failed. */
const LEARNED = {
  subject: 'prices',
  relation: 'decided',
  object: 'in whole cents, since sums of floats are wrong',
};
const KEY = 'whole cents';

interface DemoOptions extends Flags<'json'> {
  readonly session: string;
}

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'Shows two agents on a toy shop, without a memory and with one. The agents are scripts; what they publish, their prompts\n' +
        'and their tests are real. The server is temporary, unless --nats or NATS_URL names one, where the session stays.',
    )
    .option('-s, --session <name>', 'session that gets the results', 'shop')
    .option('--json', 'print {"learned","prompt","start","without","with"} as JSON')
    .examples('throughline demo', 'throughline demo --nats nats://127.0.0.1:4222')
    .action(async ({ session, json }: DemoOptions, command: Command) => {
      const cli = cliOf(command);
      const isNamed = cli.server.kind === 'named';
      const shutdown = new Shutdown();
      const stop = new AbortController();
      const release = onFirstSignal((code) => stop.abort(new Interrupted(code)));
      shutdown.add('the signals', async () => release());
      await runUntilSignal(cli, shutdown, async (ended) => {
        const server = isNamed ? cli.server : await temporaryServer(cli, shutdown);
        stop.signal.throwIfAborted();
        await withClient({ ...cli, server, autostart: undefined }, (client) =>
          tell(client, session, stop.signal, json),
        );
        ended();
      });
    });
}

async function temporaryServer({ config }: Cli, shutdown: Shutdown): Promise<ServerInUse> {
  const source = await serverToStart(config);
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-demo-'));
  shutdown.add('the store', () => rm(storeDir, { recursive: true, force: true }));
  const server = await startNatsServer({ source, storeDir });
  shutdown.add('the NATS server', () => server.stop());
  await serve({ store: server.storeDir }, { config, logger: silentLogger, shutdown });
  return ownServer(server.storeDir);
}

async function tell(client: ThroughlineClient, session: string, stop: AbortSignal, json = false) {
  // A result counts once in its session, however often the command runs.
  const published = async (
    { id, expected, inCents: [code, result] }: Task,
    what: string,
    facts: object[],
  ) => {
    const tests = [{ command: 'npm test', passed: result === expected }];
    const body = { task_id: id, status: 'completed', summary: `${what}: ${code}`, tests, facts };
    const messageId = `${session}:demo:${id}`;
    return (await client.publishText(session, 'implementer', JSON.stringify(body), { messageId })).sequence;
  };
  const after = await published(CART, 'Cart added up', [LEARNED]);
  const request = { session, taskId: ORDER.id, taskPrompt: ORDER.text, after };
  const { prompt, tokenEstimate } = await client.compile(request);
  const done = await published(ORDER, 'Price of an order given', []);
  const start = await client.compile({ kind: 'session-start', session, after: done });
  const [without, withIt] = [writtenBy(ORDER, ORDER.text), writtenBy(ORDER, prompt)];
  stop.throwIfAborted();
  if (json)
    return out(JSON.stringify({ learned: LEARNED, prompt, start: start.prompt, without, with: withIt }));
  const context = prompt
    .slice(prompt.indexOf('\n[Session Context]\n'), prompt.indexOf('\nTask prompt:'))
    .trim();
  outForAgent(`Day 1. An agent gets "${CART.text}".
  it writes   ${writtenBy(CART, CART.text)}
  it fixes    ${tested(CART, CART.inCents)}
  and ends its result with what it learned: prices ${LEARNED.object}

Day 2. Another agent gets "${ORDER.text}".
Without a memory, that is its whole prompt:
  it writes   ${without}: the same fault again
With Throughline, the prompt has these lines too, ${tokenEstimate} tokens in all:
${marked(context)}
  it writes   ${withIt}

Day 3. This is what the next session of any agent begins with:
${marked(start.prompt)}`);
  note(
    '-- next: "cd your-project", then "throughline connect claude" (or codex, gemini, copilot, cursor, opencode)',
  );
}

/** The scripted agent: it computes in cents if its prompt says so. */
function writtenBy(task: Task, prompt: string): string {
  return tested(task, prompt.includes(KEY) ? task.inCents : task.inFloats);
}

function tested({ expected }: Task, [code, result]: Attempt): string {
  return `${code} = ${result}, and its test ${result === expected ? 'passes' : 'fails'}`;
}

function marked(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `${line.includes(KEY) ? '  > ' : '    '}${line}`.trimEnd())
    .join('\n');
}
