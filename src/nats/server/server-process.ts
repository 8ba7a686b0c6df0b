import { spawn } from 'node:child_process';
import { closeSync, fstatSync, readdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { openToAppend, writePrivateFile } from '../../engine/files/user-state.js';
import { ifPossible } from '../../shared/text.js';
import type { NatsServerSource } from './install-server.js';
import { identityOf } from './process-identity.js';
import { lockStore, type StoreLock, serverNameOf, signalHolder, storeUse } from './server-store.js';
import { makeFolder } from './server-version.js';
import { writeAccess } from './team-members.js';

export interface StartOptions {
  readonly source: NatsServerSource;
  /** Directory of JetStream's data, `nats-server.conf` and `nats-server.log`; created if missing, never removed. */
  readonly storeDir: string;
  /** Default: 127.0.0.1, and any free port. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Takes the next free port if another program has `port`. */
  readonly orNext?: boolean | undefined;
  /** Configuration in the server's own language, appended unchanged. */
  readonly extraConfig?: string | undefined;
  /** Called with one line when the server is ready, and when it or one that was left on the store ended. Default: nothing. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface RunningServer {
  /** `nats://127.0.0.1:4222` */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly storeDir: string;
  /** The server's log, appended to across restarts. */
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** Notes for other processes that the services answer, and the URL of the inspector. */
  announce(inspector: string | null): void;
  /** SIGTERM, then SIGKILL after five seconds. Resolves once the process has ended. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process has ended. Idempotent. */
  kill(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const CONFIG = 'nats-server.conf';
const LOG = 'nats-server.log';
/** The server reads its store before it answers: ten thousand streams take ten seconds, more on a busy machine. */
const READY_WITHIN_MS = 60_000;
const POLL_MS = 4;
const TAIL_LINES = 12;
const TAIL_BYTES = 16 * 1024;

/**
 * Starts a server with JetStream and resolves once it answers.
 *
 * Throws `store_in_use` if another server has the store, `store_unusable` or `store_full` if it cannot be written,
 * `config_invalid` if a requested port is taken, and `unavailable`, with the end of the server's log, if it ends early or is not
 * ready within a minute. Nothing is left running then.
 */
export async function startNatsServer(options: StartOptions): Promise<RunningServer> {
  const storeDir = await openStore(options.storeDir);
  const lock = await inStore(storeDir, () => lockStore(storeDir, options.log));
  try {
    // A server that was left on the store has ended by now, and given back its port.
    const port = options.orNext ? await freePort(options.port ?? 0, options.host) : options.port;
    return await startOnStore(storeDir, lock, { ...options, port });
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
  const configFile = join(storeDir, CONFIG);
  const logFile = join(storeDir, LOG);
  const log = await inStore(storeDir, () => {
    // It may contain a token.
    writePrivateFile(configFile, serverConfig(storeDir, options));
    for (const file of portsFiles(storeDir)) rmSync(file);
    return openToAppend(logFile);
  });
  const logged = fstatSync(log).size;
  const child = startChild(options.source.path, ['-c', configFile], log, lock.release);
  const { pid, exited, stop, kill } = child;
  try {
    // From here on either process holds the lock. One that could not be started has no number.
    if (pid > 0) await inStore(storeDir, () => lock.note({ server: identityOf(pid) }));
    const url = await untilReady(storeDir, child, options.host);
    if (url === undefined) throw await startFault(child, logFile, () => textFrom(log, logged), options);
    await inStore(storeDir, () => lock.note({ url }));
    options.log?.(`nats-server is ready at ${url}, with its store in ${storeDir}`);
    void exited.then(({ code, signal }) => options.log?.(`nats-server at ${url} ended (${signal ?? code})`));
    const announce = (inspector: string | null) => lock.note({ inspector });
    const port = Number(new URL(url).port);
    return { url, port, pid, storeDir, logFile, exited, announce, stop, kill };
  } catch (error) {
    await kill();
    throw error;
  } finally {
    closeSync(log);
  }
}

const GRACE_MS = 5_000;

/** Both are null if the process could not be started. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface ServerChild extends Pick<RunningServer, 'pid' | 'exited' | 'stop' | 'kill'> {
  /** Undefined while the process runs. */
  exit(): Exit | undefined;
  spawnFault(): Error | undefined;
}

/** Starts the server at `path`, with its output to the file descriptor. `onExit` runs before `exited` resolves. */
function startChild(path: string, args: readonly string[], logFd: number, onExit: () => void): ServerChild {
  // Detached: Ctrl-C reaches the whole foreground group, and the server must outlive the workers that drain into it.
  const child = spawn(path, args, { stdio: ['ignore', logFd, logFd], detached: true });
  const kill = () => child.kill('SIGKILL');
  let exit: Exit | undefined;
  let spawnFault: Error | undefined;
  // The server runs in its own session, so nothing else ends it when this process ends by `process.exit` or an uncaught error.
  process.on('exit', kill);
  const exited = new Promise<Exit>((resolve) => {
    const end = (ended: Exit) => {
      exit = ended;
      process.off('exit', kill);
      onExit();
      resolve(ended);
    };
    child.once('exit', (code, signal) => end({ code, signal }));
    child.once('error', (fault) => {
      spawnFault = fault;
      // An error of `kill` also arrives here while the process still runs.
      if (child.pid === undefined) end({ code: null, signal: null });
    });
  });
  return {
    pid: child.pid ?? -1,
    exited,
    exit: () => exit,
    spawnFault: () => spawnFault,
    async stop() {
      if (exit !== undefined) return;
      child.kill('SIGTERM');
      const force = setTimeout(kill, GRACE_MS);
      await exited;
      clearTimeout(force);
    },
    async kill() {
      if (exit === undefined) kill();
      await exited;
    },
  };
}

function serverConfig(storeDir: string, { host = LOOPBACK, port, extraConfig = '' }: StartOptions): string {
  return [
    `server_name: ${JSON.stringify(serverNameOf(storeDir))}`,
    `host: ${JSON.stringify(host)}`,
    `port: ${port || -1}`,
    `ports_file_dir: ${JSON.stringify(storeDir)}`,
    `jetstream { store_dir: ${JSON.stringify(storeDir)} }`,
    `${extraConfig}\n`,
  ].join('\n');
}

const RELOADED = /Reloaded server configuration|Failed to reload.*/;
const RELOADED_WITHIN_MS = 5000;

/**
 * Has the running server on a store take who may connect from the store again; without one, the next start does.
 *
 * @throws ThroughlineError `unavailable` if the server does not take it
 */
export async function reloadAccess(storeDir: string): Promise<void> {
  writeAccess(storeDir);
  const { server } = storeUse(storeDir) ?? {};
  if (server === undefined) return;
  const restart = 'run "throughline down", then "throughline up --detach"';
  const log = openToAppend(join(storeDir, LOG));
  try {
    const before = fstatSync(log).size;
    signalHolder(storeDir, server, 'SIGHUP');
    const deadline = performance.now() + RELOADED_WITHIN_MS;
    for (;;) {
      const [line] = RELOADED.exec(textFrom(log, before)) ?? [];
      if (line?.startsWith('Reloaded')) return;
      if (line !== undefined || performance.now() > deadline)
        throw new ThroughlineError(
          'unavailable',
          `the server did not take its changed members (${line ?? 'it does not answer'}): ${restart}`,
        );
      await sleep(POLL_MS);
    }
  } finally {
    closeSync(log);
  }
}

/** Waits for the file in which a ready server lists its URLs; `undefined` if the server ends first, or time is up. */
async function untilReady(
  storeDir: string,
  child: ServerChild,
  host = LOOPBACK,
): Promise<string | undefined> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (child.exit() === undefined && performance.now() < deadline) {
    for (const file of portsFiles(storeDir)) {
      const url = urlIn(file);
      if (url === undefined) continue;
      // Its own user reaches it on loopback, whatever it listens on.
      const { port } = new URL(url);
      return `nats://${/^(0\.0\.0\.0|::)$/.test(host) ? LOOPBACK : host}:${port}`;
    }
    await sleep(POLL_MS);
  }
  return undefined;
}

function portsFiles(storeDir: string): string[] {
  return readdirSync(storeDir).flatMap((name) => (name.endsWith('.ports') ? [join(storeDir, name)] : []));
}

function urlIn(file: string): string | undefined {
  // It fails while the server is still writing the file.
  const ports = ifPossible(() => JSON.parse(readFileSync(file, 'utf8')));
  return typeof ports?.nats?.[0] === 'string' ? ports.nats[0] : undefined;
}

/** Returns why a server did not get ready: a port that is in use, or the end of its log. */
async function startFault(
  child: ServerChild,
  logFile: string,
  logged: () => string,
  { host = LOOPBACK, port }: StartOptions,
): Promise<ThroughlineError> {
  const hasEnded = child.exit() !== undefined;
  const problem = port && hasEnded ? await portProblem(port, host) : undefined;
  if (problem !== undefined) {
    const what = problem === 'EADDRINUSE' ? 'is in use' : `cannot be used (${problem})`;
    return new ThroughlineError(
      'config_invalid',
      `port ${port} on ${host} ${what}: choose another with --port, or stop what listens there`,
      { details: { port, problem } },
    );
  }
  const what = hasEnded ? 'ended before it was ready' : `was not ready within ${READY_WITHIN_MS / 1000} s`;
  const cause = child.spawnFault();
  const why =
    cause?.message ?? (logged().trimEnd().split('\n').slice(-TAIL_LINES).join('\n') || 'it logged nothing');
  return new ThroughlineError('unavailable', `nats-server ${what}; its log (${logFile}) ends:\n${why}`, {
    cause,
    details: { logFile },
  });
}

/** Returns the system's code (`EADDRINUSE`, `EACCES`, …) if nothing can listen on a port; undefined if it is free. */
export function portProblem(port: number, host = LOOPBACK): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

const PORTS = 100;
const MAX_PORT = 65_535;

async function freePort(wanted: number, host?: string): Promise<number> {
  for (let port = wanted; port < wanted + PORTS && port <= MAX_PORT; port += 1)
    if ((await portProblem(port, host)) !== 'EADDRINUSE') return port;
  return wanted;
}

/** Creates a store's directory, and returns its real path: two paths may be one. Throws `store_unusable`, `store_full`. */
export function openStore(given: string): Promise<string> {
  const storeDir = resolve(given);
  return inStore(storeDir, async () => {
    await makeFolder(storeDir);
    return realpath(storeDir);
  });
}

const NO_ROOM: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

export async function inStore<T>(storeDir: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    const [code, state, fix] = NO_ROOM.has(systemCode(cause))
      ? (['store_full', 'written', 'make room on its disk, or choose another with --store'] as const)
      : (['store_unusable', 'used', 'choose another directory with --store'] as const);
    throw new ThroughlineError(
      code,
      `the store ${storeDir} cannot be ${state} (${messageOf(cause)}): ${fix}`,
      { cause },
    );
  }
}

/** Returns the text of an open file from a position on; of a long one, its end. */
export function textFrom(fd: number, start: number): string {
  const { size } = fstatSync(fd);
  const from = Math.max(start, size - TAIL_BYTES);
  const bytes = Buffer.alloc(Math.max(0, size - from));
  return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
}
