import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable, Writable } from 'node:stream';
import type { CliResult } from './cli.js';

/** One command: its arguments, its whole environment, its directory, and what it reads. */
export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string | Uint8Array;
  readonly terminal: boolean;
}

/** What a command sees in `process`, instead of what the tests see there. */
interface OwnProcess {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Record<string, string>;
  readonly argv: readonly string[];
}

const own = new AsyncLocalStorage<OwnProcess>();
const OWN = ['stdin', 'stdout', 'stderr', 'env', 'argv'] as const;

/** They end by signals, or end themselves: both would end this process. */
const PROCESSES = new Set(['hook', 'up', 'serve', 'mcp', 'nats-server', 'work']);

let isBusy = false;
let isPrepared = false;

/** Returns true if no other command runs: the directory, the home directory and the exit code belong to the whole process. */
export function canRunHere({ argv }: Command): boolean {
  return !isBusy && !argv.some((arg) => PROCESSES.has(arg));
}

/**
 * Runs one command in this process, with streams, an environment and arguments of its own. Another process would take a
 * quarter of a second of processor time to load what is loaded here.
 */
export async function runHere({ argv, env, cwd, input, terminal }: Command): Promise<CliResult> {
  isBusy = true;
  prepare();
  const { runCli } = await import('../../src/cli/program.js');
  const [out, err] = [collecting(), collecting()];
  const seen: OwnProcess = {
    stdin: Readable.from(input.length > 0 ? [Buffer.from(input)] : []),
    stdout: out.stream,
    stderr: err.stream,
    env: { ...env },
    argv,
  };
  if (terminal) Object.assign(seen.stdin, { isTTY: true }) && Object.assign(seen.stderr, { isTTY: true });
  const before = { directory: process.cwd(), home: process.env.HOME };
  try {
    move(cwd, env.HOME);
    const code = await own.run(seen, () => runCli(argv));
    return { code, stdout: out.text(), stderr: err.text() };
  } finally {
    process.exitCode = undefined;
    move(before.directory, before.home);
    isBusy = false;
  }
}

function move(directory: string, home: string | undefined): void {
  if (directory !== process.cwd()) process.chdir(directory);
  if (home === undefined) delete process.env.HOME;
  else process.env.HOME = home;
}

/** Makes `process` answer each command with its own parts. */
function prepare(): void {
  if (isPrepared) return;
  isPrepared = true;
  for (const name of OWN) {
    const usual = Object.getOwnPropertyDescriptor(process, name);
    let value = usual?.value;
    Object.defineProperty(process, name, {
      configurable: true,
      enumerable: true,
      get: () => own.getStore()?.[name] ?? (usual?.get === undefined ? value : usual.get.call(process)),
      set(given) {
        if (usual?.set !== undefined) usual.set.call(process, given);
        else value = given;
      },
    });
  }
}

function collecting() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
