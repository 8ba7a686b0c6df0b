import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import { logHook } from '../agents/hooks/hook-state.js';
import { stateDirOf } from '../config/config.js';
import { addressOf, ownServer, type ServerInUse, serverText, userStore } from '../config/user-server.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { makePrivateFolder } from '../engine/files/user-state.js';
import { growHeapSlowly, Shutdown } from '../engine/runtime/shutdown.js';
import { shownAddress } from '../nats/connection/nats-access.js';
import { START_ONE } from '../nats/connection/nats-errors.js';
import { hasStuckStream } from '../nats/doctor/server-findings.js';
import { openStore, startNatsServer } from '../nats/server/server-process.js';
import { INSPECTOR_TOKEN_FILE, keptToken, OWNER, TOKEN_FILE, tokenOf } from '../nats/server/server-store.js';
import {
  ACCESS_FILE,
  keepSharing,
  lockedMembers,
  type Sharing,
  sharingOf,
  writeAccess,
} from '../nats/server/team-members.js';
import { serve } from '../services/serve.js';
import { defined } from '../shared/collections.js';
import { shellWord } from '../shared/text.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { withLogger } from './cli-logger.js';
import { type Cli, cliOf, note, out, withConnection } from './command-context.js';
import {
  DEFAULT_PORT,
  portNote,
  type RunningUp,
  recordSettings,
  runningUp,
  startDetached,
  stopDetached,
} from './detached-up.js';
import { givenOptions, wholeNumber } from './option-parsers.js';
import { type OwnServer, serverToStart, startOwnServer } from './own-server.js';
import {
  addInspectorOptions,
  type InspectorFlags,
  inspectorLine,
  startInspector,
} from './serving-options.js';
import { runUntilSignal } from './signals.js';

interface UpOptions
  extends InspectorFlags,
    // The last three are false by `--no-…`.
    Flags<'detach' | 'background' | 'tls' | 'inspector' | 'auth'>,
    Texts<'store' | 'nats' | 'listen' | 'tlsCert' | 'tlsKey'>,
    Numbers<'port'> {}

export function upCommand(program: Command): void {
  const command = program
    .command('up')
    .description(
      'Starts a NATS server with JetStream, unless NATS_URL or --nats names one, and all services on it.\n' +
        'Prints a line when everything is ready, another with the URL of the inspector, and runs until it gets SIGINT,\n' +
        'SIGTERM or SIGHUP. One server serves all your projects: if it runs already, up says so.',
    )
    .option(
      '--port <n>',
      `port of the server that is started (default: ${DEFAULT_PORT}, or the next free one)`,
      wholeNumber(1, 65_535),
    )
    .option(
      '--store <dir>',
      'a separate server with its data there (default: your state directory). Other commands find it by NATS_URL',
    )
    .option(
      '--auth',
      'protect that server with a token, so that other users of this machine cannot use it; commands, hooks and MCP find the token',
    )
    .option('--no-auth', 'remove the token')
    .option(
      '--listen <address>',
      'address for a team, such as 0.0.0.0, now and later; implies --auth (default: 127.0.0.1)',
    )
    .option('--tls-cert <file>', 'its certificate, in PEM')
    .option('--tls-key <file>', 'its private key')
    .option('--no-tls', 'listen without TLS, as in a VPN')
    .option(
      '--detach',
      'return when everything is ready, and let it run; finds the one that runs already. "throughline down" ends it',
    )
    .addOption(new Option('--background', 'a start by a hook, an MCP server or a command').hideHelp())
    .examples(
      'throughline up',
      'throughline up --detach',
      'throughline up --port 14222 --store /var/lib/throughline',
      'throughline up --detach --listen 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
    )
    .action(async (options: UpOptions) => {
      const cli = cliOf(command);
      const { server } = cli;
      if (server.kind === 'team')
        throw usageError(
          `your team's server is in use (${serverText(server)}): its services run there; "throughline team leave" comes back to your own`,
        );
      if (server.kind === 'named') refuseServerOptions(options);
      if (server.kind === 'own') sharingFrom(storeOf(cli, options), options);
      if (options.detach) return detached(cli, command, options);
      if (server.kind === 'own' && options.store === undefined) {
        const found = await runningUp(server.store);
        if (found !== undefined) return tellFound(cli, options, found);
      }
      growHeapSlowly();
      await runHere(withLogger(cli), command, options);
    });
  addInspectorOptions(command, '4280, or the next free one').option(
    '--no-inspector',
    'do not serve the inspector',
  );
}

async function runHere(cli: Cli, command: Command, options: UpOptions): Promise<void> {
  const shutdown = new Shutdown();
  await runUntilSignal(cli, shutdown, async (failed) => {
    const ownServer = cli.server.kind === 'own' ? await startServer(cli, options, failed) : undefined;
    if (ownServer !== undefined) shutdown.add('the NATS server', () => ownServer.stop());
    const address = ownServer === undefined ? addressOf(cli.server) : { store: ownServer.server.storeDir };
    const { connection } = await serve(address, { ...cli, shutdown }).catch((fault: unknown) => {
      throw withWayOut(fault, cli.server);
    });
    if (ownServer !== undefined) {
      void ownServer.watchDisk(() => hasStuckStream(connection));
      // Before the connection is closed over which it asks.
      shutdown.add('the watch of the disk', async () => ownServer.stopWatching());
    }
    const { inspectorToken = ownServer && keptToken(ownServer.server.storeDir, INSPECTOR_TOKEN_FILE) } =
      cli.config;
    const config = { ...cli.config, ...(inspectorToken !== undefined && { inspectorToken }) };
    const context = { ...cli, config, shutdown };
    // On a server of others, what its user may do is not for us to guess.
    const role = ownServer === undefined ? 'reader' : 'operator';
    const inspector =
      options.inspector === false ? null : await startInspector(address, context, options, role);
    if (ownServer === undefined) out(`throughline ready ${shownAddress(address)}`);
    else {
      const { url, storeDir } = ownServer.server;
      if (options.store === undefined)
        recordSettings(storeDir, givenOptions(command, ['detach', 'background']), cli.config.env);
      ownServer.announce(inspector?.url ?? null);
      out(`throughline ready ${url} store ${storeDir}`);
    }
    if (inspector !== null) out(inspectorLine(inspector));
    const line = ownServer && portNote(ownServer.server, options.port);
    // No terminal shows it, and a hook may have ended by now.
    if (line !== undefined && options.background)
      logHook(stateDirOf(cli.config.env), `up: ${line}`, () => serverText(cli.server));
    // In the background `up --detach` says it.
    if (ownServer !== undefined && process.stdout.isTTY) noteHowToReach(options, ownServer.server);
  });
}

async function detached(cli: Cli, command: Command, options: UpOptions): Promise<void> {
  if (cli.server.kind !== 'own') {
    throw usageError(
      '--detach is only for a server that "up" starts: unset NATS_URL and leave out --nats, or run "throughline admin serve"',
    );
  }
  const storeDir = storeOf(cli, options);
  // Told here: who starts it may never see its log.
  await serverToStart(cli.config);
  // Without its name, your own server would be meant.
  const store = options.store === undefined ? [] : ['--store', storeDir];
  const args = [...store, ...givenOptions(command, ['store', 'detach'])];
  const server = await startDetached(storeDir, args, { env: cli.config.env }, (line) => note(`-- ${line}`));
  if (server.found) return tellFound(cli, options, server);
  tellServer(server);
  const down = ['throughline', 'down', ...store].map(shellWord).join(' ');
  note(`-- it runs as process ${server.pid}: "${down}" ends it`);
  noteHowToReach(options, server);
}

function tellServer({ url, storeDir, inspector }: RunningUp): void {
  out(`throughline ready ${url} store ${storeDir}`);
  if (inspector !== null) out(inspectorLine({ url: inspector }));
}

async function tellFound(cli: Cli, options: UpOptions, up: RunningUp): Promise<void> {
  const { storeDir, pid } = up;
  const { port } = new URL(up.url);
  const token = tokenOf(storeDir);
  if (!isDeepStrictEqual(sharingFrom(storeDir, options).listen, sharingOf(storeDir).listen))
    throw usageError(
      `the server on port ${port} runs already, and listens otherwise: run "throughline down" first`,
    );
  if (options.auth !== undefined && options.auth !== (token !== undefined)) {
    throw usageError(
      `the server on port ${port} runs already ${options.auth ? 'without' : 'with'} a token: run "throughline down" first`,
    );
  }
  const there = { ...cli, server: ownServer(storeDir), autostart: undefined };
  // Refused where it hangs.
  await withConnection(there, async () => {});
  tellServer(up);
  const [down, use] =
    options.store === undefined ? ['down', ': this project uses it'] : [`down --store ${storeDir}`, ''];
  if (options.port !== undefined && options.port !== Number(port))
    note(`-- it keeps its port: "throughline ${down}" ends it, or --store starts a separate one`);
  note(`-- already running on ${port}, process ${pid}${use}`);
}

/** Says if the usual port was not to be had, and how the `nats` CLI reaches a server with a token. */
function noteHowToReach({ port, store }: UpOptions, server: Pick<RunningUp, 'url' | 'storeDir'>): void {
  const line = portNote(server, port);
  if (store === undefined && line !== undefined) note(`-- ${line}`);
  const { url, storeDir } = server;
  const { listen, members } = sharingOf(storeDir);
  if (listen !== undefined)
    note(`-- it listens on ${listen.host}: "throughline team invite NAME" lets a colleague in`);
  if (tokenOf(storeDir) === undefined || listen?.tls !== undefined) return;
  const token = `"$(cat ${shellWord(join(storeDir, TOKEN_FILE))})"`;
  const access = members === undefined ? `NATS_TOKEN=${token}` : `NATS_USER=${OWNER} NATS_PASSWORD=${token}`;
  note(`-- for the nats CLI: export NATS_URL=${url} ${access}`);
}

function storeOf({ config }: Cli, { store }: Texts<'store'>): string {
  return resolve(store ?? userStore(stateDirOf(config.env)));
}

/** The user named a server that does not answer: `up` then starts none. */
function withWayOut(fault: unknown, server: ServerInUse): unknown {
  const isOurs = fault instanceof ThroughlineError && fault.message.includes(START_ONE);
  if (!isOurs || server.kind !== 'named') return fault;
  const without = server.by === 'NATS_URL' ? 'unset NATS_URL' : 'leave out --nats';
  const way = `${server.by} names it: start that server, or ${without} so that "throughline up" starts one`;
  return new ThroughlineError(fault.code, fault.message.replace(START_ONE, way), { cause: fault });
}

function refuseServerOptions(options: UpOptions): void {
  for (const name of ['port', 'store', 'auth', 'listen'] as const)
    if (options[name] !== undefined)
      throw usageError(
        `--${name} is only for a server that "up" starts: unset NATS_URL, or leave out the option`,
      );
}

async function startServer(cli: Cli, options: UpOptions, failed: (error: Error) => void): Promise<OwnServer> {
  const { config, logger } = cli;
  const source = await serverToStart(config);
  const storeDir = storeOf(cli, options);
  if (options.store === undefined) makePrivateFolder(storeDir);
  else await openStore(storeDir);
  const sharing = await keptSharing(storeDir, options);
  let { port = sharing.listen?.port ?? DEFAULT_PORT } = options;
  let orNext = options.port === undefined || options.background;
  // Without either option, a server keeps the protection that it had.
  if (options.auth === false) rmSync(join(storeDir, TOKEN_FILE), { force: true });
  if (options.auth || isShared(sharing)) keptToken(storeDir);
  const start = async () => {
    writeAccess(storeDir);
    const server = await startNatsServer({
      source,
      storeDir,
      port,
      orNext,
      host: sharing.listen?.host,
      extraConfig: `include ${JSON.stringify(ACCESS_FILE)}`,
      log: (line) => logger.debug?.({}, line),
    });
    // Started again, it keeps its address.
    ({ port } = server);
    orNext = false;
    return server;
  };
  return startOwnServer(start, failed);
}

async function keptSharing(storeDir: string, options: UpOptions): Promise<Sharing> {
  if (options.listen === undefined) return sharingFrom(storeDir, options);
  const lock = await lockedMembers(storeDir);
  try {
    const sharing = sharingFrom(storeDir, options);
    keepSharing(storeDir, sharing);
    return sharing;
  } finally {
    lock.release();
  }
}

/** Returns how the server on a store is shared from now on. @throws ThroughlineError `usage` for options that do not fit */
function sharingFrom(storeDir: string, options: UpOptions): Sharing {
  const { listen: host, tlsCert: cert, tlsKey: key, tls, auth } = options;
  if (
    (cert === undefined) !== (key === undefined) ||
    (host === undefined && (cert !== undefined || tls === false))
  )
    throw usageError('--tls-cert and --tls-key, or --no-tls, are for --listen: give them together');
  if (host !== undefined && cert === undefined && tls !== false && !isLoopback(host))
    throw usageError(
      `--listen ${host} opens the server to other machines: add --tls-cert FILE --tls-key FILE, or --no-tls in a network that is private, such as a VPN`,
    );
  const before = sharingOf(storeDir);
  const port = options.port ?? before.listen?.port;
  const files = cert && key && { tls: { cert: resolve(cert), key: resolve(key) } };
  const sharing =
    host === undefined ? before : { ...before, listen: { host, ...defined({ port }), ...files } };
  if (isShared(sharing) && auth === false)
    throw usageError('the server is shared, and asks who connects: leave out --no-auth');
  return sharing;
}

function isShared({ listen, members = [] }: Sharing): boolean {
  return !isLoopback(listen?.host) || members.length > 0;
}

function isLoopback(host = '127.0.0.1'): boolean {
  return /^127\.|^localhost$/.test(host);
}

export function downCommand(program: Command): void {
  program
    .command('down')
    .description(
      'Ends the services and the NATS server that "throughline up" has started, wherever it runs. The data stays.\n' +
        'The next command or hook starts it again, unless THROUGHLINE_AUTOSTART is 0. If nothing runs, it exits with 0.',
    )
    .option('--store <dir>', 'the store of that server (default: the one in your state directory)')
    .option('--json', 'print {stopped, url?, store} as JSON')
    .examples('throughline down', 'throughline down --store /var/lib/throughline')
    .action(async (options: Texts<'store'> & Flags<'json'>, command: Command) => {
      const cli = cliOf(command);
      const store = storeOf(cli, options);
      const url = await stopDetached(store, cli.config.shutdownMs);
      const stopped = url !== undefined;
      if (options.json) return out(JSON.stringify({ stopped, ...(stopped && { url }), store }));
      out(stopped ? `throughline stopped ${url} store ${store}` : `nothing runs on the store ${store}`);
    });
}
