import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownServer, type ServerInUse } from '../config/user-server.js';
import type { Role } from '../contracts/kinds.js';
import { builtFolder } from '../engine/files/user-state.js';
import { silentLogger } from '../engine/ports/clients.js';
import { Shutdown } from '../engine/runtime/shutdown.js';
import { startNatsServer } from '../nats/server/server-process.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { serve } from '../services/serve.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, note, outForAgent, withClient } from './command-context.js';
import { serverToStart } from './own-server.js';
import { runUntilSignal } from './signals.js';

const NEXT_TASK = {
  taskId: '5.1',
  taskPrompt:
    'Make prompt.compile wait for the dispatch named in `after`, with a deadline: read the tail again when the session log announces an event, and answer not_caught_up with the snapshot sequence when time is up.',
};

export function demoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'Publishes the results of a recorded session, one by one, and prints the prompt of its next task. Starts a server for\n' +
        'that and removes it with its data at the end; with --nats or NATS_URL it uses that one, and the session stays.',
    )
    .option('-s, --session <name>', 'session that gets the results', 'recorded')
    .examples('throughline demo', 'throughline demo --nats nats://127.0.0.1:4222')
    .action(async (options: { session: string }, command: Command) => {
      const cli = cliOf(command);
      const isNamed = cli.server.kind === 'named';
      const shutdown = new Shutdown();
      await runUntilSignal(cli, shutdown, async (ended) => {
        const server = isNamed ? cli.server : await temporaryServer(cli, shutdown);
        await withClient({ ...cli, server, autostart: undefined }, (client) =>
          replay(client, options.session),
        );
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

async function replay(client: ThroughlineClient, session: string): Promise<void> {
  const recorded = readFileSync(join(builtFolder('cli/bin') ?? '', 'demo-session.jsonl'), 'utf8');
  const results = recorded.trimEnd().split('\n');
  let after = 0;
  for (const [index, line] of results.entries()) {
    const { role, body }: { role: Role; body: string } = JSON.parse(line);
    // Counts once in its session, however often the command runs.
    const messageId = `${session}:demo:${index}`;
    ({ sequence: after } = await client.publishText(session, role, body, { messageId }));
  }
  note(`-- ${results.length} results published to the session ${session}; the prompt of its next task is:`);
  const { prompt, factsShown, factsTotal, tokenEstimate } = await client.compile({
    session,
    ...NEXT_TASK,
    after,
  });
  outForAgent(prompt);
  note(`-- about ${tokenEstimate} tokens, ${factsShown} of ${factsTotal} facts`);
}
