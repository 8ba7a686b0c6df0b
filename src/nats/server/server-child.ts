import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process';

/** Environment variables, passed in as data. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
  // The server runs in its own session, so nothing else ends it when this process ends by `process.exit` or an uncaught error.
  process.on('exit', kill);
  const exited = exitOf(child, (fault) => {
    spawnFault = fault;
  }).then((ended) => {
    exit = ended;
    process.off('exit', kill);
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

/** `reason` is the last line of output, or why the command could not run. */
type CommandResult =
  | { readonly ok: true; readonly stdout: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Runs a command without a shell. A bare name is looked up on `env.PATH`. Never rejects: a failure, a missing command and a
 * timeout (milliseconds) are results.
 */
export function runCommand(
  file: string,
  args: readonly string[],
  options: { readonly env: Environment; readonly timeoutMs: number; readonly cwd?: string | undefined },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      {
        env: { ...options.env },
        cwd: options.cwd,
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ ok: true, stdout });
        else resolve({ ok: false, reason: reasonOf(error, stdout, stderr, options.timeoutMs) });
      },
    );
  });
}

function reasonOf(error: ExecFileException, stdout: string, stderr: string, timeoutMs: number): string {
  if (error.code === 'ENOENT') return 'not found';
  if (error.code === 'EACCES') return 'not executable';
  if (error.killed === true) return `no answer within ${timeoutMs / 1000} s`;
  const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim();
  return lastLine(stderr) || lastLine(stdout) || `exit status ${error.code ?? error.signal ?? 'unknown'}`;
}
