import { readFileSync, statSync } from 'node:fs';
import { systemCode } from '../../contracts/errors.js';
import { ifPossible } from '../../shared/text.js';

/** A process by its number and start time, as numbers are reused. The time is opaque, and missing on some systems. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started?: string | undefined;
}

export function identityOf(pid: number): ProcessIdentity {
  const started = startOf(pid);
  return started === undefined ? { pid } : { pid, started };
}

export function isRunning({ pid, started }: ProcessIdentity): boolean {
  if (!exists(pid)) return false;
  if (process.platform === 'linux' && hasEnded(pid)) return false;
  return started === undefined || startOf(pid) === started;
}

/**
 * Signals a process that was recorded with its start time. All signals to recorded processes must go
 * through here: 1, 0 and negative numbers address groups or all processes, and a number without a start time may have been
 * reused.
 *
 * @returns false, without a signal, if the process has ended, belongs to another user, or cannot be identified
 * @throws the system's error, except for a process that has just ended
 */
export function signalRecorded(
  { pid, started }: ProcessIdentity,
  signal: 'SIGTERM' | 'SIGKILL' | 'SIGHUP',
): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1 || !started) return false;
  if (!isRunning({ pid, started }) || !belongsToUs(pid)) return false;
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Returns true if this user runs the process. The system itself does not check that for root. */
export function belongsToUs(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, but belongs to another user.
    return systemCode(error) === 'EPERM';
  }
}

/** Returns true for a zombie, which keeps its number until its parent reaps it. */
function hasEnded(pid: number): boolean {
  const state = statusFields(pid)?.[0];
  return state === 'Z' || state === 'X';
}

function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // Ticks count from boot, so the boot id is needed as well.
    const ticks = statusFields(pid)?.[19];
    const boot = ifPossible(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? '';
    return ticks === undefined ? undefined : `${boot} ${ticks}`;
  }
  return ifPossible(() => {
    // Loaded here: hooks start without it.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
    }).trim();
  });
}

/** Returns the fields of `/proc/<pid>/stat` behind the name, which may contain anything: the first is the state. */
function statusFields(pid: number): readonly string[] | undefined {
  const text = ifPossible(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}
