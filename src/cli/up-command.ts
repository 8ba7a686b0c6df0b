import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stateDirOf } from '../config/config.js';
import {
  INSPECTOR_TOKEN_FILE,
  noteStore,
  serversElsewhere,
  serverUrl,
  TOKEN_FILE,
  tokenOf,
  userStore,
} from '../config/user-server.js';
import { ThroughlineError, usageError } from '../contracts/errors.js';
import { makePrivateFolder, writePrivateFile } from '../engine/files/user-state.js';
import { growHeapSlowly, Shutdown } from '../engine/runtime/shutdown.js';
import { START_ONE, withoutSecrets } from '../nats/connection/nats-errors.js';
import { hasStuckStream } from '../nats/jetstream/probe-stream.js';
import { openStore, orphanOn, stopOrphan } from '../nats/server/running-server.js';
import { portProblem, startNatsServer } from '../nats/server/server-process.js';
import { serve } from '../services/serve.js';
import { shellWord } from '../shared/text.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { withLogger } from './cli-logger.js';
import { type Cli, cliOf, note, out, withNats } from './command-context.js';
import {
  type DetachedServer,
  recordSettings,
  runningUp,
  startDetached,
  stopDetached,
  untilServed,
} from './detached-up.js';
import {
  addInspectorOptions,
  type InspectorFlags,
  inspectorLine,
  inspectorOf,
  removeInspectorNote,
  startInspector,
  writeInspectorNote,
} from './inspector-options.js';
import { addMonitoringOptions, type MonitoringOptions, startMonitoring } from './monitoring-options.js';
import {
  addLayoutOptions,
  givenOptions,
  type LayoutOptions,
  wholeNumber,
  withLayout,
} from './option-parsers.js';
import { agreed } from './output.js';
import { type OwnServer, serverToStart, startOwnServer } from './own-server.js';
import { runUntilSignal } from './signals.js';

interface UpOptions
  extends MonitoringOptions,
    InspectorFlags,
    LayoutOptions,
    Flags<'yes' | 'detach'>,
    Texts<'store' | 'nats'>,
    Numbers<'port' | 'monitorPort'> {
  /** False by `--no-inspector`. */
  readonly inspector?: boolean;
  /** False by `--no-auth`. */
  readonly auth?: boolean;
}

const HOST = '127.0.0.1';
const DEFAULT_PORT = 4222;
/** Ports that are tried where another program has the default one. */
const PORTS = 100;

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
      '--monitor-port <n>',
      'HTTP monitoring port of that server (default: none)',
      wholeNumber(1, 65_535),
    )
    .option(
      '--detach',
      'return when everything is ready, and let it run; finds the one that runs already. "throughline down" ends it',
    )
    .option('--yes', 'without asking, stop a NATS server that a killed `up` left on the store')
    .examples(
      'throughline up',
      'throughline up --detach',
      'throughline up --port 14222 --store /var/lib/throughline',
    )
    .action(async (options: UpOptions) => {
      const shared = withLayout(cliOf(command), options);
      // It may stand before the command as well.
      const { nats } = command.optsWithGlobals<UpOptions>();
      const given = nats ?? shared.config.natsUrl;
      if (options.detach) return detached(shared, command, options, given);
      if (given === undefined && options.store === undefined) {
        const found = await runningUp(storeOf(shared, options));
        if (found !== undefined) return tellFound(shared, options, found);
      }
      growHeapSlowly();
      const cli = withLogger(shared);
      const shutdown = new Shutdown();
      await runUntilSignal(cli, shutdown, async (failed) => {
        if (given !== undefined) refuseServerOptions(options);
        const watched = await startMonitoring(cli, options, shutdown);
        const own = given === undefined ? await startServer(cli, options, failed) : undefined;
        if (own !== undefined) shutdown.add('the NATS server', () => own.stop());
        const token = own && tokenOf(own.server.storeDir);
        const url = given ?? (own && serverUrl({ host: HOST, port: own.server.port }, token)) ?? cli.url;
        const { connection } = await serve(url, { ...cli, ...watched, shutdown }).catch((fault: unknown) => {
          throw given === undefined ? fault : withWayOut(fault, nats === undefined);
        });
        if (own !== undefined) {
          own.watchDisk(() => hasStuckStream(connection));
          // Before the connection is closed over which it asks.
          shutdown.add('the watch of the disk', async () => own.stopWatching());
        }
        const { inspectorToken = own && keptToken(own.server.storeDir, INSPECTOR_TOKEN_FILE) } = cli.config;
        const config = { ...cli.config, ...(inspectorToken !== undefined && { inspectorToken }) };
        const context = { ...cli, ...watched, config, shutdown };
        // On a server of others, what its user may do is not for us to guess.
        const inspector =
          options.inspector === false
            ? undefined
            : await startInspector(url, context, options, own === undefined ? 'reader' : 'operator');
        if (own !== undefined && options.store === undefined)
          recordSettings(own.server.storeDir, givenOptions(command, ['detach', 'yes']), cli.config.env);
        if (own !== undefined) {
          // For an `up --detach` that finds this one.
          const { storeDir } = own.server;
          writeInspectorNote(storeDir, inspector?.url ?? null);
          shutdown.add('the note of the inspector', async () => removeInspectorNote(storeDir));
        }
        out(
          own === undefined
            ? `throughline ready ${withoutSecrets(url)}`
            : `throughline ready ${own.server.url} store ${own.server.storeDir}`,
        );
        if (inspector !== undefined) out(inspectorLine(inspector));
      });
    });
  addInspectorOptions(command, '4280, or the next free one').option(
    '--no-inspector',
    'do not serve the inspector',
  );
  addMonitoringOptions(command);
  addLayoutOptions(
    command,
    'how a new installation lays out session logs: a stream for each session, or some for all',
  );
}

async function detached(
  cli: Cli,
  command: Command,
  options: UpOptions,
  given: string | undefined,
): Promise<void> {
  if (given !== undefined) {
    throw usageError(
      '--detach is only for a server that "up" starts: unset NATS_URL and leave out --nats, or run "throughline admin serve"',
    );
  }
  const storeDir = storeOf(cli, options);
  // Told here: who starts it may never see its log.
  await serverToStart(cli.config);
  await offerToStopOrphan(storeDir, options.yes === true);
  const server = await startDetached(storeDir, [
    ...(options.store === undefined ? [] : ['--store', storeDir]),
    ...givenOptions(command, ['store', 'detach', 'yes']),
  ]);
  if (server.found) return tellFound(cli, options, server);
  await tellServer(cli, server);
  // Without its name, your own server would be meant.
  const down = ['throughline', 'down', ...(options.store === undefined ? [] : ['--store', storeDir])];
  note(`-- it runs as process ${server.pid}: "${down.map(shellWord).join(' ')}" ends it`);
}

async function tellServer({ config }: Cli, { url, storeDir, pid }: DetachedServer): Promise<void> {
  out(`throughline ready ${url} store ${storeDir}`);
  const inspector = await inspectorOf(storeDir, pid, config.requestTimeoutMs);
  if (inspector !== null) out(inspectorLine({ url: inspector }));
}

async function tellFound(cli: Cli, options: UpOptions, server: DetachedServer): Promise<void> {
  const { port, storeDir, pid } = server;
  const token = tokenOf(storeDir);
  if (options.auth !== undefined && options.auth !== (token !== undefined)) {
    throw usageError(
      `the server on port ${port} runs already ${options.auth ? 'without' : 'with'} a token: run "throughline down" first`,
    );
  }
  const at = { ...cli, url: serverUrl({ host: HOST, port }, token), autostart: undefined };
  await untilServed(at);
  // Refused where the installation has another layout than was asked for.
  if (options.layout !== undefined || options.shards !== undefined) await withNats(at, async () => {});
  await tellServer(cli, server);
  const use = options.store === undefined ? ': this project uses it' : '';
  note(`-- already running on ${port}, process ${pid}${use}`);
}

function storeOf({ config }: Cli, { store }: UpOptions): string {
  return resolve(store ?? userStore(stateDirOf(config.env)));
}

/** The user named a server that does not answer: `up` then starts none. */
function withWayOut(fault: unknown, isFromVariable: boolean): unknown {
  if (!(fault instanceof ThroughlineError) || !fault.message.includes(START_ONE)) return fault;
  const [name, without] = isFromVariable ? ['NATS_URL', 'unset NATS_URL'] : ['--nats', 'leave out --nats'];
  const way = `${name} names it: start that server, or ${without} so that "throughline up" starts one`;
  return new ThroughlineError(fault.code, fault.message.replace(START_ONE, way), { cause: fault });
}

function refuseServerOptions(options: UpOptions): void {
  for (const name of ['port', 'store', 'monitorPort', 'yes', 'auth'] as const) {
    if (options[name] === undefined) continue;
    const flag = name === 'monitorPort' ? 'monitor-port' : name;
    throw usageError(
      `--${flag} is only for a server that "up" starts: unset NATS_URL, or leave out the option`,
    );
  }
}

async function startServer(cli: Cli, options: UpOptions, failed: (error: Error) => void): Promise<OwnServer> {
  const { config, logger } = cli;
  const source = await serverToStart(config);
  const storeDir = storeOf(cli, options);
  await offerToStopOrphan(storeDir, options.yes === true);
  if (options.store === undefined) makePrivateFolder(storeDir);
  else {
    await openStore(storeDir);
    noteStore(stateDirOf(config.env), storeDir);
  }
  const port = options.port ?? (options.store === undefined ? await usualPort() : DEFAULT_PORT);
  const token = serverToken(storeDir, options.auth);
  const start = () =>
    startNatsServer({
      ...{ source, storeDir, port, host: HOST, monitorPort: options.monitorPort },
      extraConfig: token && `authorization { token: ${JSON.stringify(token)} }`,
      log: (line) => logger.debug?.({}, line),
    });
  return startOwnServer(start, failed);
}

/** Returns the default port, or the next free one if another program has it: commands find the server all the same. */
async function usualPort(): Promise<number> {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + PORTS; port += 1)
    if ((await portProblem(HOST, port)) !== 'EADDRINUSE') return port;
  return DEFAULT_PORT;
}

/**
 * Stops the server that an `up` which was killed left on a store: with `yes`, or when the person at the terminal says
 * so. Otherwise it stays, and whatever starts a server there says what to do.
 */
async function offerToStopOrphan(storeDir: string, yes: boolean): Promise<void> {
  const orphan = await orphanOn(storeDir);
  if (orphan === undefined) return;
  const { host, port, pid } = orphan;
  const what = `the nats-server at ${host}:${port}, process ${pid}, was left on ${storeDir} by a process that was killed`;
  if (!yes && !(await agreed(`${what}. Stop it and continue? [y/N] `))) return;
  await stopOrphan(orphan);
  note(`-- ${what}; it has been stopped`);
}

/**
 * Returns the token that the server on a store asks for. Makes one with `auth`, and removes it where `auth` is false; without
 * either, a server keeps the protection that it had.
 */
function serverToken(store: string, auth: boolean | undefined): string | undefined {
  if (auth === false) rmSync(join(store, TOKEN_FILE), { force: true });
  return auth === true ? keptToken(store, TOKEN_FILE) : tokenOf(store);
}

/** Returns the token in a file of a store; makes one if there is none. */
function keptToken(store: string, file: string): string {
  const token = tokenOf(store, file);
  if (token !== undefined) return token;
  const made = randomBytes(24).toString('base64url');
  writePrivateFile(join(store, file), `${made}\n`);
  return made;
}

/** Beside the time that `up` gives itself: its server may take as long again. */
const PATIENCE_MS = 10_000;

export function downCommand(program: Command): void {
  program
    .command('down')
    .description(
      'Ends the services and the NATS server that "throughline up" has started, wherever it runs. The data stays.\n' +
        'The next command or hook starts it again, unless THROUGHLINE_AUTOSTART is 0. If nothing runs, it exits with 0.',
    )
    .option('--store <dir>', 'the store of that server (default: the one in your state directory)')
    .option('--json', 'print {stopped, url?, store, elsewhere} as JSON')
    .examples('throughline down', 'throughline down --store /var/lib/throughline')
    .action(async (options: { store?: string; json?: boolean }, command: Command) => {
      const { config } = cliOf(command);
      const store = resolve(options.store ?? userStore(stateDirOf(config.env)));
      const url = await stopDetached(store, config.shutdownMs + PATIENCE_MS);
      const stopped = url !== undefined;
      const elsewhere =
        stopped || options.store !== undefined ? [] : serversElsewhere(stateDirOf(config.env));
      if (options.json) return out(JSON.stringify({ stopped, ...(stopped && { url }), store, elsewhere }));
      out(stopped ? `throughline stopped ${url} store ${store}` : `nothing runs on the store ${store}`);
      for (const each of elsewhere)
        note(
          `-- ${each.url} runs on ${each.store}: "${['throughline', 'down', '--store', each.store].map(shellWord).join(' ')}" ends it`,
        );
    });
}
