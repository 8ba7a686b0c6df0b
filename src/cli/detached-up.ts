import { type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, readSync, rmSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, stateDirOf, USUAL_VARIABLES } from '../config/config.js';
import { serverUrl, userStore, usualUrl } from '../config/user-server.js';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { healthSubject } from '../contracts/names.js';
import {
  makePrivateFolder,
  openToAppend,
  readRegularFile,
  writePrivateFile,
} from '../engine/files/user-state.js';
import { isRunning, type ProcessIdentity, signalRecorded } from '../nats/server/process-identity.js';
import { stopOrphan } from '../nats/server/running-server.js';
import { makeFolder } from '../nats/server/server-version.js';
import { type StoreUse, storeUse } from '../nats/server/store-lock.js';
import { keepTrying } from '../sdk/keep-trying.js';
import type { Cli } from './cli-context.js';

/** An `up` that has left its terminal: it is found again by the lock of its store. */

const POLL_MS = 50;
const READY_WITHIN_MS = 30_000;
const LOG = 'throughline.log';

export interface DetachedServer {
  /** Without a token. */
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  readonly pid: number;
  readonly found: boolean;
}

/**
 * Finds the `up` of a store, or starts one that goes on without us. Resolves once its services are there.
 *
 * @param args what `up` is called with, without `--detach`
 * @param settings environment and folder of the new process. Default: those of this one
 * @throws ThroughlineError as `up` says, `unavailable` when it ends before it is ready
 */
export async function startDetached(
  storeDir: string,
  args: readonly string[],
  settings: Pick<SpawnOptions, 'env' | 'cwd'> = {},
): Promise<DetachedServer> {
  const found = await runningUp(storeDir);
  if (found !== undefined) return found;
  const problem = await startedReady(storeDir, args, settings);
  // If two start at the same moment, one gets the store and the other finds it.
  const server = await runningUp(storeDir);
  if (server !== undefined) return { ...server, found: problem !== undefined };
  throw new ThroughlineError('unavailable', problem ?? 'it ended right after its start');
}

/** Why it did not get ready; undefined where it did. */
async function startedReady(
  storeDir: string,
  args: readonly string[],
  settings: Pick<SpawnOptions, 'env' | 'cwd'>,
): Promise<string | undefined> {
  const logFile = join(storeDir, LOG);
  const log = await openLog(storeDir, logFile);
  const [, script = ''] = process.argv;
  const before = fstatSync(log).size;
  const child = spawn(process.execPath, [script, 'up', ...args], {
    ...settings,
    detached: true,
    stdio: ['ignore', 'pipe', log],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('exit', (code, signal) => resolve(`it ended (${signal ?? code})`));
  });
  const { stdout } = child;
  const ready = new Promise<undefined>((resolve) => {
    stdout?.once('data', () => resolve(undefined));
  });
  const how = await Promise.race([ready, ended]);
  stdout?.destroy();
  child.unref();
  const said = how === undefined ? '' : textFrom(log, before);
  closeSync(log);
  if (how === undefined) return undefined;
  const lines = said
    .split('\n')
    // Leave out info lines: they do not explain the failure.
    .filter((line) => !line.startsWith('{"level":"info"'))
    .join('\n')
    .trim();
  return `"throughline up" on ${storeDir} did not get ready: ${how}; ${lines || 'it said nothing'} (see ${logFile})`;
}

const SETTINGS = 'throughline-up.json';
const MAX_SETTINGS = 256 * 1024;
/** Stands while a start in the background runs, and for a while after one that failed. */
const STARTING = 'throughline-starting';
const PAUSE_MS = 30_000;

/** The options, variables and folder of an `up`, as a later start in the background uses them again. */
interface UpSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** Records how the user has started the server. May hold secrets, as the variables do. */
export function recordSettings(
  storeDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const own = Object.entries(env).filter(
    ([name]) => /^(?:NATS|THROUGHLINE)_/.test(name) && !OF_AGENTS.test(name),
  );
  const settings = { args, env: Object.fromEntries(own), cwd: process.cwd() };
  writePrivateFile(join(storeDir, SETTINGS), JSON.stringify(settings));
}

const OF_AGENTS = /^THROUGHLINE_(?:SESSION|PROJECT|RESULT_ID|CALL|AUTOSTART)$/;

/**
 * Starts the server of this user in the background, with the options and variables of the last `up`. The variables and the
 * folder of this process may come from a repository, and do not count.
 *
 * @throws ThroughlineError as `up` says; `unavailable` if it does not get ready
 */
export async function startUserServer(config: Config): Promise<DetachedServer> {
  const storeDir = userStore(stateDirOf(config.env));
  makePrivateFolder(storeDir);
  const { args, env, cwd } = recordedSettings(storeDir);
  const usual = USUAL_VARIABLES.map((name) => [name, config.env[name]]);
  const settings = { env: { ...Object.fromEntries(usual), ...env }, cwd: existsSync(cwd) ? cwd : storeDir };
  // One start at a time: hooks come after each tool, also where the server cannot start.
  const marker = join(storeDir, STARTING);
  const { mtimeMs = 0 } = statSync(marker, { throwIfNoEntry: false }) ?? {};
  const isStarting = Date.now() - mtimeMs < PAUSE_MS;
  if (!isStarting) writePrivateFile(marker, '');
  const started = isStarting ? undefined : await startDetached(storeDir, args, settings);
  if (started?.found !== false)
    await untilServed({ config, url: usualUrl(stateDirOf(config.env), config.access) });
  rmSync(marker, { force: true });
  const server = started ?? (await runningUp(storeDir));
  if (server !== undefined) return server;
  throw new ThroughlineError('unavailable', `nothing uses the store ${storeDir} any more`);
}

function recordedSettings(storeDir: string): UpSettings {
  const read = readRegularFile(join(storeDir, SETTINGS), MAX_SETTINGS);
  // Only `recordSettings` writes it.
  return read instanceof Buffer ? JSON.parse(read.toString('utf8')) : { args: [], env: {}, cwd: storeDir };
}

/** Waits for the services: the server of an `up` that is starting is there a moment before them. */
export async function untilServed(cli: Pick<Cli, 'url' | 'config'>): Promise<void> {
  const tries = { timeoutMs: cli.config.requestTimeoutMs };
  // Most starts do not need it, and it loads all services.
  const [{ openClient }, { SERVICE_NAMES }] = await Promise.all([
    import('./open-client.js'),
    import('../services/serve.js'),
  ]);
  const client = await openClient(cli, { tries });
  try {
    await Promise.all(
      SERVICE_NAMES.map((name) => keepTrying(() => client.request(healthSubject(name), {}), tries)),
    );
  } finally {
    await client.close();
  }
}

async function openLog(storeDir: string, logFile: string): Promise<number> {
  try {
    await makeFolder(storeDir, 0o700);
    return openToAppend(logFile);
  } catch (cause) {
    throw new ThroughlineError('store_unusable', `${logFile} cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function textFrom(log: number, position: number): string {
  const bytes = Buffer.alloc(Math.max(0, fstatSync(log).size - position));
  return bytes.toString('utf8', 0, readSync(log, bytes, 0, bytes.length, position));
}

/** The `up` that has a store, once it is ready; undefined where there is none. */
export async function runningUp(storeDir: string): Promise<DetachedServer | undefined> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const use = await useOf(storeDir);
    if (use?.by === 'server') {
      return {
        url: serverUrl(use.server),
        port: use.server.port,
        storeDir,
        pid: use.starter.pid,
        found: true,
      };
    }
    if (use?.by !== 'starter' || performance.now() > deadline) return undefined;
    await sleep(POLL_MS);
  }
}

/**
 * Ends the `up` of a store together with its server, and a server that a killed one has left. Resolves once they are
 * gone; the address of the server, or undefined where none was running.
 *
 * @throws ThroughlineError `store_in_use` when it may not be ended, or does not end within `withinMs`
 */
export async function stopDetached(storeDir: string, withinMs: number): Promise<string | undefined> {
  const use = await useOf(storeDir);
  if (use === undefined) return undefined;
  if (use.by === 'orphan') {
    await stopOrphan(use.server);
    return serverUrl(use.server);
  }
  const { starter } = use;
  const why = (cause: string) =>
    `process ${starter.pid}, which runs on ${storeDir}, cannot be stopped: ${cause}; stop it by hand`;
  try {
    // One that has just ended is gone, and no fault.
    if (!signalRecorded(starter, 'SIGTERM') && isRunning(starter))
      throw new ThroughlineError('store_in_use', why('its process cannot be identified'));
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    throw new ThroughlineError('store_in_use', why(messageOf(cause)), { cause });
  }
  await untilGone(starter, storeDir, withinMs);
  return use.by === 'server' ? serverUrl(use.server) : undefined;
}

async function untilGone(starter: ProcessIdentity, storeDir: string, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (isRunning(starter) || (await useOf(storeDir)) !== undefined) {
    if (performance.now() > deadline) {
      const still = `process ${starter.pid} on ${storeDir} has not ended within ${withinMs} ms`;
      throw new ThroughlineError('store_in_use', `${still}: see ${join(storeDir, LOG)}, or end it by hand`);
    }
    await sleep(POLL_MS);
  }
}

/** A folder that is not there has no server. */
async function useOf(storeDir: string): Promise<StoreUse | undefined> {
  try {
    return await storeUse(await realpath(storeDir));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
