import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessIdentity, signalRecorded } from '../nats-server/process-identity.js';

/**
 * The processes of a call. Each runs with the call's mark in its environment, which children inherit: so one that has left
 * the process group, such as a server or a browser, is found through `/proc`. Systems without `/proc` know the group alone.
 * A run within a call has the marks of both in its calls, as `outer:inner`.
 */
export const CALL_MARK = 'THROUGHLINE_CALL';

/** A call as it is recorded: its mark, and the leader of its process group. */
export interface RecordedCall extends ProcessIdentity {
  readonly mark: string;
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
export function endRecorded({ pid, started, mark }: RecordedCall): void {
  signalRecorded({ pid, started }, 'SIGKILL', 'group');
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
