import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../contracts/errors.js';
import { killAtExit } from '../nats/server/kill-at-exit.js';
import { type ProcessIdentity, signalRecorded } from '../nats/server/process-identity.js';
import { withinDeadline } from '../shared/deadline.js';

/** A shell command to be run in a process group of its own. */
interface GroupCommand {
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
  /** Told the mark of its processes before the first one is there, and then the number of their group as well. */
  readonly onStart?: (mark: string, pid?: number) => void;
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
    options.onStart?.(mark);
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
    if (pid !== undefined) options.onStart?.(mark, pid);
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

/**
 * The processes of a call. Each runs with the call's mark in its environment, which children inherit: so one that has left
 * the process group, such as a server or a browser, is found through `/proc`. Systems without `/proc` know the group alone.
 * A run within a call has the marks of both in its calls, as `outer:inner`.
 */
export const CALL_MARK = 'THROUGHLINE_CALL';

/** A call as it is recorded: its mark, and the leader of its process group once that is there. */
export interface RecordedCall {
  readonly mark: string;
  readonly leader?: ProcessIdentity;
}

/** Processes may start others while they are looked for: more looks than this find none that matters. */
const MOST_LOOKS = 5;

/** Sends a signal to the process group of a call, and to all that carries its mark. SIGKILL is repeated until none is left. */
export function signalCall(pid: number, mark: string, signal: NodeJS.Signals): void {
  signalGroup(pid, signal);
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const marked = marking(mark);
    for (const each of marked) send(each, signal);
    if (marked.length === 0 || signal !== 'SIGKILL') return;
  }
}

/** True while a process of the call's group, or one that carries its mark, still runs. */
export function isCallRunning(pid: number, mark: string): boolean {
  const all = running();
  if (all === undefined) return isGroupThere(pid);
  return all.some(({ id, group }) => group === pid || carries(id, mark));
}

/** Ends what a recorded call has left. A leader counts only with its start time: its number may be another's by now. */
export function endRecorded({ mark, leader }: RecordedCall): void {
  if (leader !== undefined) signalRecorded(leader, 'SIGKILL', 'group');
  for (const each of marking(mark)) send(each, 'SIGKILL');
}

function marking(mark: string): number[] {
  return (running() ?? []).flatMap(({ id }) => (carries(id, mark) ? [id] : []));
}

/** All processes but this one, and those that have ended and are not reaped yet; undefined without `/proc`. */
function running(): { readonly id: number; readonly group: number }[] | undefined {
  if (process.platform !== 'linux') return undefined;
  return processNames()?.flatMap((name) => {
    const id = Number(name);
    if (!(id > 1) || id === process.pid) return [];
    const stat = read(`/proc/${name}/stat`)?.toString('latin1') ?? '';
    // The name, which may hold anything, stands in brackets before the state.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === undefined || 'ZX'.includes(state) ? [] : [{ id, group: Number(group) }];
  });
}

function processNames(): string[] | undefined {
  try {
    return readdirSync('/proc');
  } catch {
    return undefined;
  }
}

function carries(id: number, mark: string): boolean {
  const variables = read(`/proc/${id}/environ`)?.toString('latin1').split('\0') ?? [];
  const marks = variables.find((each) => each.startsWith(`${CALL_MARK}=`))?.slice(CALL_MARK.length + 1);
  return marks?.split(':').includes(mark) === true;
}

/** Undefined for a process that has ended, and for that of another user. */
function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Never signals group 0 or 1: that would be this process's own group, or every process of the user. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (Number.isSafeInteger(pid) && pid > 1) send(-pid, signal);
}

function isGroupThere(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
