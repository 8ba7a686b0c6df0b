import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ThroughlineError } from '../../contracts/errors.js';
import { writePrivateFile } from '../../engine/files/user-state.js';
import { inStore, openStore, type RunningServer, type StartOptions } from './running-server.js';
import { type ServerChild, startChild } from './server-child.js';
import { CONFIG_FILE, type LogFile, openLogFile, renderServerConfig, untilReady } from './server-ready.js';
import { lockStore, type StoreLock } from './store-lock.js';

interface Location {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number | undefined;
  readonly storeDir: string;
}

/** The server reads its store before it answers: ten thousand streams take ten seconds, more on a busy machine. */
const READY_WITHIN_MS = 60_000;
const PORT_ATTEMPTS = 5;

/**
 * Starts a server with JetStream and resolves once it answers.
 *
 * Throws `store_in_use` if another server has the store, `store_unusable` or `store_full` if it cannot be written,
 * `config_invalid` if a requested port is taken, and `unavailable`, with the end of the server's log, if it ends early or is not
 * ready within a minute. Nothing is left running then.
 */
export async function startNatsServer(options: StartOptions): Promise<RunningServer> {
  const storeDir = await openStore(options.storeDir);
  const lock = await inStore(storeDir, () => lockStore(storeDir));
  try {
    return await startOnStore(storeDir, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startOnStore(
  storeDir: string,
  lock: StoreLock,
  options: StartOptions,
): Promise<RunningServer> {
  // Another process may take a free port before the server does: retry, unless the caller insists on the ports.
  const attempts = options.port && options.monitorPort !== 0 ? 1 : PORT_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    const location = await chooseLocation(options, storeDir);
    const taken = await portFault(location);
    if (taken !== undefined) throw taken;
    const started = await startAt(location, lock, options);
    if ('server' in started) return started.server;
    if (attempt === attempts) throw started.portFault;
  }
}

async function chooseLocation(options: StartOptions, storeDir: string): Promise<Location> {
  const host = options.host ?? '127.0.0.1';
  const port = options.port || (await freePort(host));
  const monitorPort = options.monitorPort === 0 ? await freePort(host) : options.monitorPort;
  return { host, port, monitorPort, storeDir };
}

/** Returns the reason why a server cannot listen at its location, if any. */
async function portFault({ host, port, monitorPort }: Location): Promise<ThroughlineError | undefined> {
  const ports = [
    { noun: 'port', option: '--port', value: port },
    ...(monitorPort === undefined
      ? []
      : [{ noun: 'monitor port', option: '--monitor-port', value: monitorPort }]),
  ];
  for (const { noun, option, value } of ports) {
    const problem = await portProblem(host, value);
    if (problem === undefined) continue;
    const what = problem === 'EADDRINUSE' ? 'is in use' : `cannot be used (${problem})`;
    return new ThroughlineError(
      'config_invalid',
      `${noun} ${value} on ${host} ${what}: choose another with ${option}, or stop what listens there`,
      { details: { host, port: value, problem } },
    );
  }
  return undefined;
}

type Started = { readonly server: RunningServer } | { readonly portFault: ThroughlineError };

async function startAt(location: Location, lock: StoreLock, options: StartOptions): Promise<Started> {
  const { host, port, monitorPort, storeDir } = location;
  const id = `throughline-nats-${randomBytes(6).toString('hex')}`;
  const serverName = options.serverName ?? id;
  const { maxPayloadBytes, extraConfig } = options;
  const config = { ...location, serverName, maxPayloadBytes, extraConfig };
  const configFile = join(storeDir, CONFIG_FILE);
  const logFile = await inStore(storeDir, () => {
    // It may contain a token.
    writePrivateFile(configFile, renderServerConfig(config));
    return openLogFile(join(storeDir, 'nats-server.log'));
  });
  const child = startChild(options.source.path, ['-c', configFile], logFile.fd);
  child.exited.then(() => logFile.close());
  const held = { pid: child.pid, host: reachableHost(host), port, serverName };
  await orKilled(child, storeDir, () => lock.handTo(held));

  const outcome = await untilReady({
    host: reachableHost(host),
    port,
    serverName,
    withinMs: READY_WITHIN_MS,
    hasEnded: () => child.exit() !== undefined,
  });
  if (outcome !== 'ready') {
    await child.kill();
    const taken = await portFault(location);
    if (taken !== undefined) return { portFault: taken };
    throw await startFault(child, outcome, logFile);
  }
  await orKilled(child, storeDir, () => lock.keep());
  const url = `nats://${reachableHost(host)}:${port}`;
  options.log?.(`nats-server is ready at ${url}, with its store in ${storeDir}`);
  child.exited.then(({ code, signal }) => options.log?.(`nats-server at ${url} ended (${signal ?? code})`));
  const server: RunningServer = {
    url,
    port,
    monitorUrl: monitorPort === undefined ? undefined : `http://${reachableHost(host)}:${monitorPort}`,
    pid: child.pid,
    storeDir,
    logFile: logFile.path,
    exited: child.exited,
    stop: child.stop,
    kill: child.kill,
  };
  return { server };
}

/** Kills a server whose lock cannot be written: others might take its store. */
async function orKilled(child: ServerChild, storeDir: string, lock: () => void): Promise<void> {
  try {
    await inStore(storeDir, lock);
  } catch (error) {
    await child.kill();
    throw error;
  }
}

async function startFault(
  child: ServerChild,
  outcome: 'ended' | 'silent',
  log: LogFile,
): Promise<ThroughlineError> {
  const what =
    outcome === 'ended' ? 'ended before it was ready' : `was not ready within ${READY_WITHIN_MS / 1000} s`;
  const why = child.spawnFault()?.message ?? (log.tail() || 'it logged nothing');
  return new ThroughlineError('unavailable', `nats-server ${what}; its log (${log.path}) ends:\n${why}`, {
    cause: child.spawnFault(),
    details: { logFile: log.path },
  });
}

function reachableHost(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host;
}

/** Returns a free TCP port. Another process may take it before it is used: retry then. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error(`no TCP address on ${host}`));
      });
    });
  });
}

/** Returns the system's code (`EADDRINUSE`, `EACCES`, …) if nothing can listen on `host:port`; undefined if it is free. */
export function portProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
