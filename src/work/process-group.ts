import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../contracts/errors.js';
import { withinDeadline } from '../shared/deadlines.js';
import { ifPossible } from '../shared/text.js';

interface GroupCommand {
  readonly command: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks the processes of the command: see `CALL_MARK`. */
  readonly mark: string;
  /** Standard input. Default: empty. */
  readonly input?: string;
  /** Ends the call with SIGTERM, and with SIGKILL five seconds later, even if the shell itself has already ended. */
  readonly signal: AbortSignal;
  /** Called with each chunk of output. An exception ends the call and is rethrown afterwards. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface GroupEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly fault?: string;
}

const GRACE_MS = 5000;
const LOOK_MS = 50;
/** Time that remaining processes may keep the output open, in milliseconds. */
const LEFT_MS = 500;
/** Output that is kept in memory, in bytes, counted from the end. */
const MAX_KEPT = 16 * 1024 * 1024;

/** Runs a shell command in a process group, and then kills all that it started, in the group or outside, also at exit. */
export function runGroup(options: GroupCommand): Promise<GroupEnd> {
  const { command, directory, env, mark, input = '', signal } = options;
  return new Promise((resolve, reject) => {
    const stdout = new EndOfOutput(MAX_KEPT);
    const stderr = new EndOfOutput(MAX_KEPT);
    const child = spawn(command, {
      shell: true,
      detached: true,
      cwd: directory,
      env: { ...env, [CALL_MARK]: [env[CALL_MARK], mark].filter(Boolean).join(':') },
    });
    const { pid } = child;
    const send = (by: NodeJS.Signals) => signalCall(pid, mark, by);
    const kill = () => void send('SIGKILL');
    process.on('exit', kill);
    let hard: NodeJS.Timeout | undefined;
    let until = 0;
    const stop = () => {
      send('SIGTERM');
      until = performance.now() + GRACE_MS;
      hard = setTimeout(kill, GRACE_MS);
    };
    let failure: { readonly error: unknown } | undefined;
    let isOver = false;
    const over = (end: Pick<GroupEnd, 'code' | 'signal' | 'fault'>) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(hard);
      signal.removeEventListener('abort', stop);
      process.off('exit', kill);
      child.stdout?.destroy();
      child.stderr?.destroy();
      if (failure === undefined)
        resolve({ ...end, stdout: String(stdout.bytes()), stderr: String(stderr.bytes()) });
      else reject(failure.error);
    };
    child.once('error', (error) => over({ code: null, signal: null, fault: messageOf(error) }));
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    child.once('exit', async (code, by) => {
      // The shell often ends before its children, which get the same grace period.
      while (pid !== undefined && performance.now() < until && isCallRunning(pid, mark)) await pause(LOOK_MS);
      // Remaining processes would continue to write.
      send('SIGKILL');
      await withinDeadline(LEFT_MS, closed);
      over({ code, signal: by });
    });
    const reading = (kept: EndOfOutput) => (chunk: Buffer) => {
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
    // A command may end without reading its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

export class EndOfOutput {
  readonly #most: number;
  #chunks: Buffer[] = [];
  #size = 0;

  /** @param most size of the end in bytes */
  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= 2 * this.#most) return;
    const end = this.bytes();
    this.#chunks = [end];
    this.#size = end.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(-this.#most);
  }
}

/**
 * Environment variable with the mark of a run's calls. Children inherit it, so `/proc` finds a process that has left the group,
 * such as a server or a browser. Systems without `/proc` only find the group. A nested run has both marks, as `outer:inner`.
 */
export const CALL_MARK = 'THROUGHLINE_CALL';

/** Scans for processes, which may start others meanwhile. */
const MOST_LOOKS = 5;

/** Signals the process group (`pid` leads it) and all marked processes of a call; repeats SIGKILL until none is left. */
export function signalCall(pid: number | undefined, mark: string, signal: NodeJS.Signals): void {
  if (pid !== undefined) send(-pid, signal);
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const marked = (running() ?? []).filter(({ id }) => carries(id, mark));
    for (const { id } of marked) send(id, signal);
    if (marked.length === 0 || signal !== 'SIGKILL') return;
  }
}

/** Returns true while a process of the group, or a marked one, still runs. */
export function isCallRunning(pid: number, mark: string): boolean {
  const all = running();
  if (all === undefined) return ifPossible(() => process.kill(-pid, 0)) === true;
  return all.some(({ id, group }) => group === pid || carries(id, mark));
}

/** Returns all running processes except this one and zombies; undefined without `/proc`. */
function running(): { readonly id: number; readonly group: number }[] | undefined {
  if (process.platform !== 'linux') return undefined;
  return ifPossible(() => readdirSync('/proc'))?.flatMap((name) => {
    const id = Number(name);
    if (!(id > 1) || id === process.pid) return [];
    const stat = ifPossible(() => readFileSync(`/proc/${name}/stat`, 'latin1')) ?? '';
    // The process name in brackets may contain any text, so the fields after its last bracket are read.
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === undefined || 'ZX'.includes(state) ? [] : [{ id, group: Number(group) }];
  });
}

function carries(id: number, mark: string): boolean {
  const variables = ifPossible(() => readFileSync(`/proc/${id}/environ`, 'latin1'))?.split('\0') ?? [];
  const marks = variables.find((pair) => pair.startsWith(`${CALL_MARK}=`))?.slice(CALL_MARK.length + 1);
  return marks?.split(':').includes(mark) === true;
}

function send(pid: number, signal: NodeJS.Signals): void {
  ifPossible(() => process.kill(pid, signal));
}
