import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownServer, type ServerInUse } from '../config/user-server.js';
import { silentLogger } from '../engine/ports/logger-and-clock.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { startNatsServer } from '../nats/server/server-process.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { serve } from '../services/serve.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, outForAgent, withClient } from './command-context.js';
import { serverToStart } from './own-server.js';
import { runUntilSignal } from './signals.js';

/** A scripted agent writes this for a task: code that runs, and the line that is shown. */
interface Attempt {
  readonly code: string;
  readonly run: () => number;
}

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
  inFloats: { code: '0.1 + 0.2', run: () => 0.1 + 0.2 },
  inCents: { code: '(10 + 20) / 100', run: () => (10 + 20) / 100 },
};
const ORDER: Task = {
  id: '2',
  text: 'Give the price of an order: 100 pieces at 4.35',
  expected: 435,
  inFloats: { code: '4.35 * 100', run: () => 4.35 * 100 },
  inCents: { code: '(435 * 100) / 100', run: () => (435 * 100) / 100 },
};

/** The first agent returns this, because its test failed. */
const LEARNED = {
  subject: 'prices',
  relation: 'decided',
  object: 'in whole cents, since sums of floats are wrong',
};
const KEY = 'whole cents';

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'Shows two agents on a toy shop, without a memory and with one. The agents are scripts; what they publish, their prompts\n' +
        'and their tests are real. Starts a server for that and removes it with its data at the end; with --nats or NATS_URL it\n' +
        'uses that one, and the session stays.',
    )
    .option('-s, --session <name>', 'session that gets the results', 'shop')
    .examples('throughline demo', 'throughline demo --nats nats://127.0.0.1:4222')
    .action(async ({ session }: { session: string }, command: Command) => {
      const cli = cliOf(command);
      const isNamed = cli.server.kind === 'named';
      const shutdown = new Shutdown();
      await runUntilSignal(cli, shutdown, async (ended) => {
        const server = isNamed ? cli.server : await temporaryServer(cli, shutdown);
        await withClient({ ...cli, server, autostart: undefined }, (client) => tell(client, session));
        ended();
      });
    });
}

/** Starts a server and all services, which end with their data when the command does. */
async function temporaryServer({ config }: Cli, shutdown: Shutdown): Promise<ServerInUse> {
  const source = await serverToStart(config);
  const storeDir = await mkdtemp(join(tmpdir(), 'throughline-demo-'));
  shutdown.add('the store', () => rm(storeDir, { recursive: true, force: true }));
  const server = await startNatsServer({ source, storeDir });
  shutdown.add('the NATS server', () => server.stop());
  await serve({ store: server.storeDir }, { config, logger: silentLogger, shutdown });
  return ownServer(server.storeDir);
}

async function tell(client: ThroughlineClient, session: string): Promise<void> {
  const failed = attempted(CART, CART.text);
  const fixed = judged(CART, CART.inCents);
  const result = {
    task_id: CART.id,
    status: 'completed',
    summary: `Cart added up: ${CART.inCents.code}`,
    tests: [{ command: 'npm test', passed: fixed.passed }],
    facts: [LEARNED],
  };
  // Counts once in its session, however often the command runs.
  const messageId = `${session}:demo:${CART.id}`;
  const body = JSON.stringify(result);
  const { sequence: after } = await client.publishText(session, 'implementer', body, { messageId });
  const request = { session, taskId: ORDER.id, taskPrompt: ORDER.text, after };
  const { prompt, tokenEstimate } = await client.compile(request);
  const without = attempted(ORDER, ORDER.text);
  const informed = attempted(ORDER, prompt);
  const start = await client.compile({ kind: 'session-start', session, after });
  const context = prompt
    .slice(prompt.indexOf('\n[Session Context]\n'), prompt.indexOf('\nTask prompt:'))
    .trim();
  outForAgent(`Day 1. An agent gets "${CART.text}".
  it writes   ${lineOf(failed)}
  it fixes    ${lineOf(fixed)}
  and ends its result with what it learned: prices ${LEARNED.object}

Day 2. Another agent gets "${ORDER.text}".
Without a memory, that is its whole prompt:
  it writes   ${lineOf(without)}: the same fault again
With Throughline, the prompt has these lines too, ${tokenEstimate} tokens in all:
${marked(context)}
  it writes   ${lineOf(informed)}

Day 3. This is what the next session of any agent begins with:
${marked(start.prompt)}`);
  note(
    '-- next: "cd your-project", then "throughline connect claude" (or codex, gemini, copilot, cursor, opencode)',
  );
}

/** The scripted agent: it computes in cents if its prompt says so. */
function attempted(task: Task, prompt: string) {
  return judged(task, prompt.includes(KEY) ? task.inCents : task.inFloats);
}

function judged(task: Task, attempt: Attempt) {
  const result = attempt.run();
  return { attempt, result, passed: result === task.expected };
}

function lineOf({ attempt, result, passed }: ReturnType<typeof judged>): string {
  return `${attempt.code} = ${result}, and its test ${passed ? 'passes' : 'fails'}`;
}

function marked(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `${line.includes(KEY) ? '  > ' : '    '}${line}`.trimEnd())
    .join('\n');
}
