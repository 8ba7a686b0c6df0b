import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { systemCode } from '../../contracts/errors.js';

/**
 * A process, told apart from one that gets the same number later by the time at which it started.
 *
 * That time is text to be compared and not read; it is missing where the system does not tell it.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started?: string | undefined;
}

/** Who a running process is. */
export function identityOf(pid: number): ProcessIdentity {
  const started = startOf(pid);
  return started === undefined ? { pid } : { pid, started };
}

/** Whether this very process still runs. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  if (!exists(pid)) return false;
  if (process.platform === 'linux' && hasEnded(pid)) return false;
  return started === undefined || startOf(pid) === started;
}

/**
 * Signals a process that was recorded with the time of its start, or the process group that it leads. This is the only way
 * to signal a process that a file names: number 1, 0 and negative numbers stand for groups of processes or for all of them,
 * and a number without its start may belong to another program by now.
 *
 * @returns false, without a signal, if that process has ended, belongs to another user, or cannot be told from others
 * @throws the system's error, other than for a process that has just ended
 */
export function signalRecorded(
  { pid, started }: ProcessIdentity,
  signal: NodeJS.Signals,
  to: 'process' | 'group' = 'process',
): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1 || !started) return false;
  if (!isRunning({ pid, started }) || !belongsToUs(pid)) return false;
  try {
    return process.kill(to === 'group' ? -pid : pid, signal);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** The system itself refuses signals to processes of other users, except to root. */
function belongsToUs(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user may not be signalled, but it is there.
    return systemCode(error) === 'EPERM';
  }
}

/** One that ended keeps its number until its parent has asked how. */
function hasEnded(pid: number): boolean {
  const state = statusFields(pid)?.[0];
  return state === 'Z' || state === 'X';
}

function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // Counted since the machine started: without that start the same number may come again.
    const ticks = statusFields(pid)?.[19];
    return ticks === undefined ? undefined : `${bootId()} ${ticks}`;
  }
  if (process.platform === 'win32') return undefined;
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
    }).trim();
  } catch {
    return undefined;
  }
}

/** The fields of `/proc/<pid>/stat` after the name, which may hold anything: the first is the state. */
function statusFields(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
