import { type ChildProcess, spawn } from 'node:child_process';
import { killAtExit } from './kill-at-exit.js';

const GRACE_MS = 5_000;

/** How a server process ended; both are null when it could not be started at all. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A started server process, ready or not. */
export interface ServerChild {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** Undefined as long as the process runs. */
  exit(): Exit | undefined;
  /** Why the process could not be started at all, where that is so. */
  spawnFault(): Error | undefined;
  /** SIGTERM, and after five seconds SIGKILL. Resolves once the process is gone; once more does nothing. */
  stop(): Promise<void>;
  /** SIGKILL. Resolves once the process is gone; once more does nothing. */
  kill(): Promise<void>;
}

/** Starts the server at `path` and follows its process to its end; its output goes to the file descriptor. */
export function startChild(path: string, args: readonly string[], logFd: number): ServerChild {
  // In a session of its own: Ctrl-C in a terminal reaches the whole foreground group, and the server must
  // outlive the workers that drain into it.
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
      // A fault of `kill` also arrives here, and then the process still runs.
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}
