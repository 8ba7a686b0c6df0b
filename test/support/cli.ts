import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/contracts/errors.js';
import { canRunHere, runHere } from './cli-in-process.js';
import { freePort } from './free-port.js';

/** The built command line, as users run it. */
export const BIN = fileURLToPath(new URL('../../dist/cli/bin.cjs', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** What is written to standard input. Default: nothing, and its end. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** True for one that a person runs at a terminal. Default: none is attached. */
  readonly terminal?: boolean;
}

/** The state directory of all commands of this process, so that none touches that of the user. */
const STATE_HOME = mkdtempSync(join(tmpdir(), 'throughline-state-'));
process.once('exit', () => rmSync(STATE_HOME, { recursive: true, force: true }));

/** This process's environment without what configures Throughline, but with what finds nats-server. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(NATS_(?!SERVER_BIN$)|THROUGHLINE_)/.test(entry[0]),
  );
  const own = {
    // The settings of git of the user who runs the tests would name the person.
    HOME: STATE_HOME,
    XDG_STATE_HOME: STATE_HOME,
    NO_COLOR: '1',
    THROUGHLINE_LOG_LEVEL: 'error',
    THROUGHLINE_AUTOSTART: '0',
  };
  return { ...Object.fromEntries(kept), ...own, ...more };
}

/** Runs one command to its end: in this process, or in one of its own beside another command or where it takes signals. */
export async function cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { env, input = '', cwd = process.cwd(), terminal = false } = options;
  const command = { argv: [process.execPath, BIN, ...args], env: cleanEnv(env), cwd, input, terminal };
  return canRunHere(command) ? runHere(command) : cliProcess(args, options);
}

/** Runs one command to its end in a process of its own: for tests of the program as such, and of what it loads. */
export async function cliProcess(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: cleanEnv(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  const exited = exitOf(child);
  // A command that does not read its input may have ended before all of it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const [stdout, stderr, { code }] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A command that runs until it is told to stop. */
export interface RunningProcess extends AsyncDisposable {
  readonly pid: number;
  /** The line that said that it is ready. */
  readonly readyLine: string;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, then waits for the end. */
  stop(): Promise<Exit>;
}

/** Starts `node <args>` and waits for its first line; fails with what it said when it ends before. */
export async function startNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = process.cwd(),
): Promise<RunningProcess> {
  const child = spawn(process.execPath, args, {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  });
  const exited = exitOf(child);
  // By SIGTERM, so that an `up` takes its server with it.
  const orphaned = () => child.kill('SIGTERM');
  process.once('exit', orphaned);
  void exited.then(() => process.off('exit', orphaned));
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const readyLine = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const [line, rest] = stdout.split('\n');
      if (rest !== undefined) resolve(line ?? '');
    });
    void exited.then(({ code, signal }) => {
      reject(new Error(`${args.join(' ')} ended (${signal ?? code}) before it was ready: ${stderr}`));
    });
  });
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  return {
    pid: child.pid ?? -1,
    readyLine,
    exited,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (signal) => child.kill(signal),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Starts `throughline <args>`, which must print a ready line. */
export function startCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<RunningProcess> {
  return startNode([BIN, ...args], env, cwd);
}

/** A running `throughline up` with a server and a store of its own. */
export interface Up extends RunningProcess {
  readonly url: string;
  readonly port: number;
  readonly store: string;
  /** Runs a command against it. */
  cli(args: readonly string[], options?: CliOptions): Promise<CliResult>;
}

/** `stop` also removes its store. `cwd` is where its services start, and may read task files. */
export async function startUp(env: Readonly<Record<string, string>> = {}, cwd?: string): Promise<Up> {
  const store = await mkdtemp(join(tmpdir(), 'throughline-up-'));
  const removeStore = () => rm(store, { recursive: true, force: true, maxRetries: 5 });
  const { port, running } = await upOnFreePort(store, env, cwd).catch(async (fault: unknown) => {
    await removeStore();
    throw fault;
  });
  const url = `nats://127.0.0.1:${port}`;
  const stop = async () => {
    const exit = await running.stop();
    await removeStore();
    return exit;
  };
  return {
    ...running,
    url,
    port,
    store,
    cli: (args, options = {}) => cli(args, { ...options, env: { NATS_URL: url, ...options.env } }),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Another process may take the port before `up` does: then it is another one. */
async function upOnFreePort(store: string, env: Readonly<Record<string, string>>, cwd: string | undefined) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort('127.0.0.1');
    try {
      // Nobody looks at these by a browser.
      const args = ['up', '--port', String(port), '--store', store, '--no-inspector'];
      return { port, running: await startCli(args, env, cwd) };
    } catch (fault) {
      if (attempt === 5 || !messageOf(fault).includes(`port ${port} on 127.0.0.1 is in use`)) throw fault;
    }
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Not `exit`: what the process said last may still be on its way then.
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}
