import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../contracts/errors.js';
import { killAtExit } from '../nats-server/kill-at-exit.js';

/** A shell command to be run in a process group of its own. */
export interface GroupCommand {
  readonly command: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on standard input. Default: nothing. */
  readonly input?: string;
  /** Ends the group: SIGTERM, and SIGKILL for what is left after `graceMs`. */
  readonly signal: AbortSignal;
  readonly graceMs?: number;
  /** Gets all that it writes, as it comes. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Told the number of the group, once it is there. */
  readonly onStart?: (pid: number) => void;
}

export interface GroupEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The ends of long ones. */
  readonly stdout: string;
  readonly stderr: string;
  /** Why it could not be started at all. */
  readonly fault?: string;
}

const GRACE_MS = 5000;
/** How long what is left of a group may hold its output open, in milliseconds. */
const LEFT_MS = 500;
/** More than any agent says; of more the end counts. */
const MAX_KEPT = 16 * 1024 * 1024;

/**
 * Runs a command to its end, and ends what it has started with it. With this process, and its `exit` at the latest, the
 * group ends too.
 */
export function runGroup(options: GroupCommand): Promise<GroupEnd> {
  const { command, directory, env, input = '', signal, graceMs = GRACE_MS } = options;
  return new Promise((resolve) => {
    const stdout = new Kept();
    const stderr = new Kept();
    const child = spawn(command, { shell: true, detached: true, cwd: directory, env: { ...env } });
    const unregister = killAtExit(() => killGroup(child, 'SIGKILL'));
    let hard: NodeJS.Timeout | undefined;
    const stop = () => {
      killGroup(child, 'SIGTERM');
      hard = setTimeout(() => killGroup(child, 'SIGKILL'), graceMs);
    };
    let isOver = false;
    const over = (end: Pick<GroupEnd, 'code' | 'signal' | 'fault'>) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(hard);
      signal.removeEventListener('abort', stop);
      unregister();
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ ...end, stdout: stdout.text(), stderr: stderr.text() });
    };
    child.once('error', (error) => over({ code: null, signal: null, fault: messageOf(error) }));
    child.once('exit', (code, by) => {
      // What it has left running would go on writing.
      killGroup(child, 'SIGKILL');
      const late = setTimeout(() => over({ code, signal: by }), LEFT_MS);
      child.once('close', () => {
        clearTimeout(late);
        over({ code, signal: by });
      });
    });
    const reading = (kept: Kept) => (chunk: Buffer) => {
      kept.add(chunk);
      options.onOutput?.(chunk);
    };
    child.stdout?.on('data', reading(stdout));
    child.stderr?.on('data', reading(stderr));
    // One that does not read its input may have ended before all of it is written.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    if (child.pid !== undefined) options.onStart?.(child.pid);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** The end of what is written. */
class Kept {
  #chunks: Buffer[] = [];
  #size = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= 2 * MAX_KEPT) return;
    this.#chunks = [Buffer.concat(this.#chunks).subarray(-MAX_KEPT)];
    this.#size = MAX_KEPT;
  }

  text(): string {
    return Buffer.concat(this.#chunks).subarray(-MAX_KEPT).toString('utf8');
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) endGroup(pid, signal);
}

/** Sends a signal to a whole process group; none where it has ended. */
export function endGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of it is left.
  }
}
