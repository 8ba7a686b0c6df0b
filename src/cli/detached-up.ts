import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, stateDirOf, USUAL_VARIABLES } from '../config/config.js';
import { userStore } from '../config/user-server.js';
import { isErrorCode } from '../contracts/error-codes.js';
import { messageOf, ThroughlineError } from '../contracts/errors.js';
import { makePrivateFolder, openToAppend, textOrNone, writePrivateFile } from '../engine/files/user-state.js';
import { isRunning, type ProcessIdentity } from '../nats/server/process-identity.js';
import { inStore, textFrom } from '../nats/server/server-process.js';
import { signalHolder, stopOrphan, storeUse } from '../nats/server/server-store.js';
import { makeFolder } from '../nats/server/server-version.js';

/** An `up` that has left its terminal: it is found again by the pid file of its store. */

export const DEFAULT_PORT = 4222;
const POLL_MS = 50;
const READY_WITHIN_MS = 30_000;
const LOG = 'throughline.log';
const INSTALLING = /^(?:building|downloading) nats-server .+$/gm;
/** About 140 MB are in use after a day of 6,500 sessions: a process that reaches its limit ends. */
const HEAP_OPTIONS = '--max-old-space-size=512 --max-semi-space-size=4';
const MOST_STREAMS = 20_000;

export interface RunningUp {
  readonly url: string;
  readonly storeDir: string;
  readonly pid: number;
  /** With its token; null if it serves none. */
  readonly inspector: string | null;
}

/**
 * Finds the `up` of a store, or starts one that goes on without us. Resolves once its services answer.
 *
 * @param args what `up` is called with, without `--detach`
 * @param settings environment of the new process, and its folder. Default folder: that of this one
 * @param say gets what makes the start take long: a download, a build
 * @throws ThroughlineError as `up` says, `unavailable` when it ends before it is ready
 */
export async function startDetached(
  storeDir: string,
  args: readonly string[],
  settings: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
  say: (line: string) => void,
): Promise<RunningUp & { readonly found: boolean }> {
  const found = await runningUp(storeDir);
  if (found !== undefined) return { ...found, found: true };
  const logFile = join(storeDir, LOG);
  const log = await inStore(storeDir, async () => {
    await makeFolder(storeDir, 0o700);
    return openToAppend(logFile);
  });
  try {
    const before = fstatSync(log).size;
    const [, script = ''] = process.argv;
    const child = spawn(process.execPath, [script, 'up', ...args], {
      ...settings,
      env: withBoundedHeap(settings.env, storeDir),
      detached: true,
      stdio: ['ignore', 'ignore', log],
    });
    let ended: string | undefined;
    child.once('error', (error) => {
      ended = messageOf(error);
    });
    child.once('exit', (code, signal) => {
      ended = `it ended (${signal ?? code})`;
    });
    child.unref();
    const printed = new Set<string>();
    const mayGetReady = () => {
      for (const [line] of textFrom(log, before).matchAll(INSTALLING))
        if (printed.size < printed.add(line).size) say(line);
      return ended === undefined;
    };
    // If two start at the same moment, one gets the store and the other finds it.
    const up = (await untilReady(storeDir, mayGetReady)) ?? (await runningUp(storeDir));
    if (up !== undefined) return { ...up, found: up.pid !== child.pid };
    const output = textFrom(log, before).split('\n').flatMap(lineForPeople).join('\n').trim();
    const [, why, code] = /^throughline: (.*) \((\w+)\)$/.exec(output) ?? [];
    if (why !== undefined && isErrorCode(code)) throw new ThroughlineError(code, why);
    throw new ThroughlineError(
      'unavailable',
      `"throughline up" on ${storeDir} did not get ready: ${ended ?? 'it does not end'}; ${output || 'it said nothing'} (see ${logFile})`,
    );
  } finally {
    closeSync(log);
  }
}

/**
 * Bounds the heap, which V8 would let grow to three times of what is in use. A store with very many sessions, and caches with
 * a size of their own, need more than the bound. Options of the user come last, and win.
 */
function withBoundedHeap(env: NodeJS.ProcessEnv, storeDir: string): NodeJS.ProcessEnv {
  const streams = join(storeDir, 'jetstream', '$G', 'streams');
  const names = existsSync(streams) ? readdirSync(streams) : [];
  const isLarge = names.includes('SESSIONS_00') || names.length > MOST_STREAMS;
  if (isLarge || env.THROUGHLINE_TUNING !== undefined) return env;
  return { ...env, NODE_OPTIONS: `${HEAP_OPTIONS} ${env.NODE_OPTIONS ?? ''}`.trim() };
}

/** Returns the message of a line of the log; nothing for an info line, which does not explain a failure. */
export function lineForPeople(line: string): string[] {
  const [, level, message] = /^\{"level":"(\w+)".*"msg":"((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  if (message === undefined) return [line];
  return level === 'info' ? [] : [JSON.parse(`"${message}"`)];
}

const SETTINGS = 'throughline-up.json';
const MAX_SETTINGS = 256 * 1024;

/** Records how the user has started the server. May hold secrets, as the variables do. */
export function recordSettings(
  storeDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const variables = Object.entries(env).filter(
    ([name]) => /^(?:NATS|THROUGHLINE)_/.test(name) && !OF_AGENTS.test(name),
  );
  const settings = { args, env: Object.fromEntries(variables), cwd: process.cwd() };
  writePrivateFile(join(storeDir, SETTINGS), JSON.stringify(settings));
}

const OF_AGENTS = /^THROUGHLINE_(?:SESSION|PROJECT|RESULT_ID|CALL|AUTOSTART)$/;

export function portNote({ url }: Pick<RunningUp, 'url'>, wanted = DEFAULT_PORT): string | undefined {
  const port = Number(new URL(url).port);
  return port === wanted ? undefined : `port ${wanted} is in use; your server is on port ${port}`;
}

/**
 * Starts the server of this user in the background, with the options and variables of the last `up`, on another port if its own is
 * taken. The variables and the folder of this process may come from a repository, and do not count.
 *
 * @param say gets a note about a server that this call has started
 * @throws ThroughlineError as `up` says; `unavailable` if it does not get ready
 */
export async function startUserServer(
  { env: callerEnv }: Pick<Config, 'env'>,
  say: (line: string) => void = () => {},
): Promise<RunningUp> {
  const storeDir = userStore(stateDirOf(callerEnv));
  makePrivateFolder(storeDir);
  const { args, env, cwd } = recordedSettings(storeDir);
  const usual = USUAL_VARIABLES.map((name) => [name, callerEnv[name]]);
  const settings = { env: { ...Object.fromEntries(usual), ...env }, cwd: existsSync(cwd) ? cwd : storeDir };
  const up = await startDetached(storeDir, [...args, '--background'], settings, say);
  if (up.found) return up;
  const port = args[args.indexOf('--port') + 1];
  const wanted = args.includes('--port') ? Number(port) : DEFAULT_PORT;
  const line = portNote(up, wanted);
  if (line !== undefined) say(line);
  return up;
}

function recordedSettings(storeDir: string): { args: readonly string[]; env: object; cwd: string } {
  // Only `recordSettings` writes it.
  return (
    JSON.parse(textOrNone(join(storeDir, SETTINGS), MAX_SETTINGS) || 'null') ?? {
      args: [],
      env: {},
      cwd: storeDir,
    }
  );
}

/** The `up` that has a store, once its services answer; undefined where there is none. */
export function runningUp(storeDir: string): Promise<RunningUp | undefined> {
  const isServing = () => ['starter', 'server'].includes(storeUse(storeDir)?.by ?? '');
  return untilReady(storeDir, isServing, READY_WITHIN_MS);
}

async function untilReady(storeDir: string, mayGetReady: () => boolean, withinMs = Number.POSITIVE_INFINITY) {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const mayStill = mayGetReady();
    const { by, url, starter, inspector } = storeUse(storeDir) ?? {};
    if (by === 'server' && url && starter && inspector !== undefined)
      return { url, storeDir, pid: starter.pid, inspector };
    if (!mayStill || performance.now() > deadline) return undefined;
    await sleep(POLL_MS);
  }
}

/** Beside the time that `up` gives itself: its server may take as long again. */
const PATIENCE_MS = 10_000;

/**
 * Ends the `up` of a store together with its server, and a server that a killed one has left. Resolves once they are
 * gone; the address of the server, or undefined where none was running.
 *
 * @throws ThroughlineError `store_in_use` when it may not be ended, or does not end in time
 */
export async function stopDetached(
  storeDir: string,
  shutdownMs: number,
  patienceMs = PATIENCE_MS,
): Promise<string | undefined> {
  const use = storeUse(storeDir);
  if (use === undefined) return undefined;
  const { starter, url } = use;
  if (use.by === 'orphan') {
    await stopOrphan(storeDir, use);
    return url;
  }
  signalHolder(storeDir, starter, 'SIGTERM');
  await untilStopped(starter, storeDir, shutdownMs + patienceMs);
  return url;
}

async function untilStopped(starter: ProcessIdentity, storeDir: string, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (isRunning(starter) || storeUse(storeDir) !== undefined) {
    if (performance.now() > deadline) {
      const still = `process ${starter.pid} on ${storeDir} has not ended within ${withinMs} ms`;
      const way = `see ${join(storeDir, LOG)}, or end it with "kill -9 ${starter.pid}", then run "throughline down" again`;
      throw new ThroughlineError('store_in_use', `${still}: ${way}`);
    }
    await sleep(POLL_MS);
  }
}
