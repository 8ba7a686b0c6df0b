import { type ExecFileException, execFile } from 'node:child_process';
import type { Environment } from './server-search.js';

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
