import { type ChildProcess, spawn } from 'node:child_process';
import { killAtExit } from './kill-at-exit.js';

const GRACE_MS = 5_000;

/** Both are null if the process could not be started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerChild {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Undefined while the process runs. */
  exit(): Exit | undefined;
  /** The reason why the process could not be started, if so. */
  spawnFault(): Error | undefined;
  /** SIGTERM, then SIGKILL after five seconds. Resolves once the process has ended. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process has ended. Idempotent. */
  kill(): Promise<void>;
}

/** Starts the server at `path`, with its output to the file descriptor. */
export function startChild(path: string, args: readonly string[], logFd: number): ServerChild {
  // Detached: Ctrl-C reaches the whole foreground group, and the server must outlive the workers that drain into it.
  const child = spawn(path, args, { stdio: ['ignore', logFd, logFd], detached: true, windowsHide: true });
  const kill = () => child.kill('SIGKILL');
  let exit: Exit | undefined;
  let spawnFault: Error | undefined;
  const forget = killAtExit(kill);
  const exited = exitOf(child, (fault) => {
    spawnFault = fault;
  }).then((ended) => {
    exit = ended;
    forget();
    return ended;
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

function exitOf(child: ChildProcess, onFault: (fault: Error) => void): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (fault) => {
      onFault(fault);
      // An error of `kill` also arrives here while the process still runs.
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}
