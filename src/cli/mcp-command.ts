import { isDeepStrictEqual } from 'node:util';
import { agentSession, openOwnSession } from '../agents/agent-session.js';
import { hookState, logHook } from '../agents/hooks/hook-state.js';
import { spoolOf } from '../agents/hooks/spool.js';
import type { Memory } from '../agents/mcp/mcp-tools.js';
import { stateDirOf } from '../config/config.js';
import { pausedFolder } from '../config/connected-projects.js';
import { addressOf, installationKey, type ServerInUse, serverText } from '../config/user-server.js';
import { ThroughlineError } from '../contracts/errors.js';
import { token } from '../contracts/names.js';
import { redacted } from '../memory/redaction/redactor.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { LATE, withinDeadline } from '../shared/deadlines.js';
import type { Command, Texts } from './cli-command.js';
import { cliOf, note, serverOf } from './command-context.js';
import type { WatchedClient } from './open-client.js';

export function mcpCommand(program: Command): void {
  program
    .command('mcp')
    .description(
      'Serves the memory of a session to coding agents, by the Model Context Protocol, on standard input and output.\n' +
        'It starts without a NATS server; a tool says so when it cannot reach one.',
    )
    .option(
      '-s, --session <name>',
      'session (default: THROUGHLINE_SESSION, otherwise the session of the project, as hooks use it)',
    )
    .examples('throughline mcp', 'throughline mcp --session demo')
    .action(async ({ session }: Texts<'session'>, command: Command) => {
      const { memory, close } = memoryOf(command, session);
      await serveInput(memory, close);
    });
}

/** A call waits that long for a server that is being started: its agent must go on. */
const START_MS = 700;
const STARTING = 'your server did not run and is being started, which takes a few seconds';

function memoryOf(command: Command, given: string | undefined) {
  let cli = cliOf(command);
  const named = given === undefined ? undefined : token(given, '--session');
  const env = { ...cli.config.env, ...(named !== undefined && { THROUGHLINE_SESSION: named }) };
  const found = agentSession({ env, directory: process.cwd(), keep: true });
  if (found.changed !== undefined) note(`-- ${found.changed}`);
  const session = named ?? found.session;
  let opened: Promise<WatchedClient> | undefined;
  let isStarting = false;
  let sending = Promise.resolve();
  /** Follows the user to another server, as the hooks of this conversation do. */
  const follow = () => {
    const now = serverOf(command, cli.config);
    if (isDeepStrictEqual(addressOf(now.server), addressOf(cli.server))) return;
    const left = opened;
    const leftClaims = new Map(claims);
    cli = { config: cli.config, logger: cli.logger, ...now };
    opened = undefined;
    claims.clear();
    void left?.then(({ client }) => leave(client, leftClaims)).catch(() => {});
  };
  const leave = async (client: ThroughlineClient, leftClaims: ReadonlyMap<string, string>) => {
    for (const [id, claim] of leftClaims)
      await client.tools.taskRelease({ session, id, claim }).catch(() => {});
    await client.close();
  };
  const client = async () => {
    follow();
    const known = opened;
    if (known !== undefined && !(await (await within(known)).isAlive())) {
      if (opened === known) opened = undefined;
      void (await known).client.close();
    }
    opened ??= connected();
    const { server } = cli;
    const watched = await within(opened);
    // A call that comes while a kept report is sent must see it, too.
    sending = sending.then(() => sendKept(watched.client, server)).catch(() => {});
    await sending;
    return watched.client;
  };
  const connected = () => {
    const opening = open().catch((error) => {
      // The next call tries again.
      if (opened === opening) opened = undefined;
      throw error;
    });
    return opening;
  };
  /** Waits for the connection, but not for a server that takes its time to start. */
  const within = async (connecting: Promise<WatchedClient>) => {
    const watched = await withinDeadline(START_MS, connecting);
    if (watched !== LATE) return watched;
    if (isStarting) throw new ThroughlineError('unavailable', STARTING);
    return connecting;
  };
  const open = async () => {
    const { openWatchedClient } = await import('./open-client.js');
    const { autostart: start } = cli;
    const starting = async () => {
      isStarting = true;
      await start?.().finally(() => {
        isStarting = false;
      });
    };
    const watched = await openWatchedClient({ ...cli, autostart: start && starting });
    // Hooks open a new session too. If the services do not answer, the tool reports it.
    await openIfNew(watched.client).catch(() => {});
    return watched;
  };
  const openIfNew = async (client: ThroughlineClient) => {
    const { sequence } = await client.runs.status({ session });
    if (sequence === 0) await openOwnSession({ ...found, session }, client);
  };
  const stateDir = stateDirOf(cli.config.env);
  const log = (line: string) => logHook(stateDir, `mcp: ${line}`, () => serverText(cli.server));
  const state = hookState(stateDir, log);
  const spoolFor = (server: ServerInUse) => spoolOf(stateDir, installationKey(server), log);
  const sendKept = async (client: ThroughlineClient, server: ServerInUse) => {
    const { flush } = await import('../agents/hooks/send-waiting.js');
    const leftMs = () => cli.config.requestTimeoutMs;
    await flush({ state, spool: spoolFor(server), log, leftMs }, client);
  };
  const keep: Memory['keep'] = async (result) => {
    const kept = { kind: 'result', session, ...result, at: new Date().toISOString() } as const;
    spoolFor(cli.server).keep(cli.config.redact ? await redacted(kept) : kept);
    // Sent as soon as the server has started.
    void opened?.then(client).catch(() => {});
  };
  const { CLAUDE_CODE_SESSION_ID, COPILOT_AGENT_SESSION_ID } = cli.config.env;
  const conversation = CLAUDE_CODE_SESSION_ID || COPILOT_AGENT_SESSION_ID;
  const claims = new Map<string, string>();
  const isPausedNow = () => pausedFolder(stateDir, process.cwd()) !== undefined;
  const memory = {
    ...found,
    session,
    client,
    keep,
    claims,
    isPausedNow,
    state,
    ...(conversation && { conversation }),
  };
  const close = async () => {
    const watched = await opened?.catch(() => undefined);
    if (watched !== undefined) await leave(watched.client, claims);
  };
  return { memory, close };
}

async function serveInput(memory: Memory, close: () => Promise<void>): Promise<void> {
  const ended = new Promise<unknown>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  const [{ serveMcpInput }, { RENEW_MS, renewClaims }] = await Promise.all([
    import('../agents/mcp/mcp-server.js'),
    import('../agents/mcp/mcp-tools.js'),
  ]);
  const server = serveMcpInput(memory, (error) => note(`throughline mcp: ${error.message}`));
  // The client ends this process with its conversation: until then what was claimed is held.
  const renewing = setInterval(() => void renewClaims(memory).catch(() => {}), RENEW_MS);
  await ended;
  clearInterval(renewing);
  await server.close();
  await close();
}
