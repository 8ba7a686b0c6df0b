import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BIN, type CliOptions, type CliResult, cleanEnv, cli, type Up } from './cli.js';

const HOST = fileURLToPath(new URL('cli-host.mjs', import.meta.url));

let host: ChildProcess | undefined;
let isBusy = false;

/**
 * Runs one command to its end in a process that stays for the next ones: most of the time of a command is its start. While
 * one runs there, another one gets a process of its own. Tests of signals, ends of processes and terminals use `cli`.
 */
export async function hostedCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  if (isBusy) return cli(args, options);
  isBusy = true;
  try {
    host ??= startHost();
    const { env, input = '', cwd = process.cwd() } = options;
    const message = { bin: BIN, args, env: cleanEnv(env), cwd, input: Buffer.from(input) };
    const [result] = await answerOf(host, message);
    return result;
  } finally {
    isBusy = false;
  }
}

/** A system whose commands are hosted. */
export function hosted(up: Up): Up {
  return {
    ...up,
    cli: (args, options = {}) => hostedCli(args, { ...options, env: { NATS_URL: up.url, ...options.env } }),
  };
}

async function answerOf(child: ChildProcess, message: object): Promise<[CliResult]> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const answered = once(child, 'message', { signal }) as Promise<[CliResult]>;
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the host of commands ended with ${code}`);
    });
    child.send(message);
    return await Promise.race([answered, ended]);
  } finally {
    waiting.abort();
  }
}

function startHost(): ChildProcess {
  const started = fork(HOST, { serialization: 'advanced', env: cleanEnv(), execArgv: [] });
  started.unref();
  started.channel?.unref();
  started.once('exit', () => {
    host = undefined;
  });
  return started;
}
