import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../contracts/errors.js';
import { killAtExit } from '../nats-server/kill-at-exit.js';
import { withinDeadline } from '../shared/deadline.js';
import { CALL_MARK, isCallRunning, signalCall } from './call-processes.js';

/** A shell command to be run in a process group of its own. */
export interface GroupCommand {
  readonly command: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** What it reads on standard input. Default: nothing. */
  readonly input?: string;
  /** Ends the call: SIGTERM, and SIGKILL for processes that are left after `graceMs`, also where the shell has ended before. */
  readonly signal: AbortSignal;
  readonly graceMs?: number;
  /** Gets all that it writes, as it comes. A fault of it ends the call, and is thrown once that has ended. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Told the number of the group and the mark of its processes, once it is there. */
  readonly onStart?: (pid: number, mark: string) => void;
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
const LOOK_MS = 50;
/** How long what is left of a group may hold its output open, in milliseconds. */
const LEFT_MS = 500;
/** More than any agent says; of more the end counts. */
const MAX_KEPT = 16 * 1024 * 1024;

/**
 * Runs a command to its end, and ends what it has started with it, in its process group or out of it. With this process, and
 * its `exit` at the latest, all of them end too.
 */
export function runGroup(options: GroupCommand): Promise<GroupEnd> {
  const { command, directory, env, input = '', signal, graceMs = GRACE_MS } = options;
  return new Promise((resolve, reject) => {
    const stdout = new Kept();
    const stderr = new Kept();
    const mark = randomBytes(16).toString('base64url');
    const child = spawn(command, {
      ...{ shell: true, detached: true, cwd: directory },
      env: { ...env, [CALL_MARK]: [env[CALL_MARK], mark].filter(Boolean).join(':') },
    });
    const { pid } = child;
    const send = (by: NodeJS.Signals) => {
      if (pid !== undefined) signalCall(pid, mark, by);
    };
    const unregister = killAtExit(() => send('SIGKILL'));
    let hard: NodeJS.Timeout | undefined;
    let until = 0;
    const stop = () => {
      send('SIGTERM');
      until = performance.now() + graceMs;
      hard = setTimeout(() => send('SIGKILL'), graceMs);
    };
    let failure: { readonly error: unknown } | undefined;
    let isOver = false;
    const over = (end: Pick<GroupEnd, 'code' | 'signal' | 'fault'>) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(hard);
      signal.removeEventListener('abort', stop);
      unregister();
      child.stdout?.destroy();
      child.stderr?.destroy();
      if (failure === undefined) resolve({ ...end, stdout: stdout.text(), stderr: stderr.text() });
      else reject(failure.error);
    };
    child.once('error', (error) => over({ code: null, signal: null, fault: messageOf(error) }));
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    child.once('exit', async (code, by) => {
      // The shell often ends before what it has started, which has its own time to end.
      while (pid !== undefined && performance.now() < until && isCallRunning(pid, mark)) await pause(LOOK_MS);
      // What is left running would go on writing.
      send('SIGKILL');
      await withinDeadline(LEFT_MS, closed);
      over({ code, signal: by });
    });
    const reading = (kept: Kept) => (chunk: Buffer) => {
      kept.add(chunk);
      if (failure !== undefined) return;
      try {
        options.onOutput?.(chunk);
      } catch (error) {
        failure = { error };
        send('SIGKILL');
      }
    };
    child.stdout?.on('data', reading(stdout));
    child.stderr?.on('data', reading(stderr));
    // One that does not read its input may have ended before all of it is written.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    if (pid !== undefined) options.onStart?.(pid, mark);
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
