import { spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { makeFolder } from '../nats-server/make-folder.js';
import { stopOrphan } from '../nats-server/orphaned-server.js';
import { isRunning, type ProcessIdentity } from '../nats-server/process-identity.js';
import { type StoreUse, storeUse } from '../nats-server/store-lock.js';
import type { LockedServer } from '../nats-server/store-notes.js';

/** An `up` that has left its terminal: it is found again by the lock of its store. */

const POLL_MS = 50;
/** Longest wait for one that is starting. */
const READY_WITHIN_MS = 30_000;
const LOG = 'throughline.log';

export interface DetachedServer {
  readonly url: string;
  readonly storeDir: string;
  /** The process of `up`. */
  readonly pid: number;
  /** It was there already. */
  readonly found: boolean;
}

/**
 * Finds the `up` of a store, or starts one that goes on without us. Resolves once its services are there.
 *
 * @param args what `up` is called with, without `--detach`
 * @throws ThroughlineError as `up` says, `unavailable` when it ends before it is ready
 */
export async function startDetached(storeDir: string, args: readonly string[]): Promise<DetachedServer> {
  const found = await running(storeDir);
  if (found !== undefined) return found;
  const problem = await startedReady(storeDir, args);
  // Of two at the same moment one gets the store, and the other finds it.
  const server = await running(storeDir);
  if (server !== undefined) return { ...server, found: problem !== undefined };
  throw new ThroughlineError('unavailable', problem ?? 'it ended right after its start');
}

/** Why it did not get ready; undefined where it did. */
async function startedReady(storeDir: string, args: readonly string[]): Promise<string | undefined> {
  const logFile = join(storeDir, LOG);
  const log = await openLog(storeDir, logFile);
  const [, script = ''] = process.argv;
  const before = sizeOf(logFile);
  const child = spawn(process.execPath, [script, 'up', ...args], {
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
  if (how === undefined) return undefined;
  const said = readFileSync(logFile, 'utf8')
    .slice(before)
    .split('\n')
    // What went well before it ended.
    .filter((line) => !line.startsWith('{"level":"info"'))
    .join('\n')
    .trim();
  return `"throughline up" on ${storeDir} did not get ready: ${how}; ${said || 'it said nothing'} (see ${logFile})`;
}

async function openLog(storeDir: string, logFile: string): Promise<number> {
  try {
    await makeFolder(storeDir);
    return openSync(logFile, 'a', 0o600);
  } catch (cause) {
    throw new ThroughlineError('store_unusable', `${logFile} cannot be written: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function sizeOf(file: string): number {
  return readFileSync(file, 'utf8').length;
}

/** The `up` that has a store, once it is ready; undefined where there is none. */
async function running(storeDir: string): Promise<DetachedServer | undefined> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const use = await useOf(storeDir);
    if (use?.by === 'server') {
      return { url: urlOf(use.server), storeDir, pid: use.starter.pid, found: true };
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
    return urlOf(use.server);
  }
  const starter = use.by === 'server' ? use.starter : { pid: use.pid };
  try {
    process.kill(starter.pid, 'SIGTERM');
  } catch (cause) {
    if (systemCode(cause) !== 'ESRCH') {
      const why = `process ${starter.pid}, which runs on ${storeDir}, cannot be stopped: ${messageOf(cause)}`;
      throw new ThroughlineError('store_in_use', why, { cause });
    }
  }
  await untilGone(starter, storeDir, withinMs);
  return use.by === 'server' ? urlOf(use.server) : undefined;
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

/** Whether an `up`, or a server that one has left, runs on a store. */
export async function isInUse(storeDir: string): Promise<boolean> {
  return (await useOf(storeDir)) !== undefined;
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

function urlOf({ host, port }: LockedServer): string {
  return `nats://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
