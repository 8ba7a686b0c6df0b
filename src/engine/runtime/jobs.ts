import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { hashOf } from '../../shared/hash.js';
import type { Clock, Logger } from '../ports/clients.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../ports/lease-store.js';
import { pause } from './batched.js';

/**
 * Runs resumable jobs that outlive their process. A record lists the remaining work, and each step is idempotent, so a job is
 * either unfinished or done. The holder of the job's lease works on it; when that process dies, its lease expires and any
 * other process that looks for unfinished jobs resumes it.
 */
export interface JobKind {
  /** Prefix of the lease keys. */
  readonly name: string;
  /** Log message of a failure: "a session could not be archived yet". */
  readonly failed: string;
  /** Returns the keys of unfinished jobs, from their records. */
  readonly unfinished: () => readonly string[] | Promise<readonly string[]>;
  /** Does the rest of a job. Must confirm the lease before each step that two processes must not both do. */
  readonly run: (job: string, lease: HeldLease) => Promise<void>;
}

export interface JobsOptions {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** Interval in milliseconds at which unfinished jobs are looked for. Default: never. */
  readonly everyMs?: number;
}

const TTL_MS = 10_000;
/** Poll interval for a job that another process does. */
const LOOK_MS = 250;
export const RESUME_EVERY_MS = 2000;

export class Jobs {
  readonly #kind: JobKind;
  readonly #options: JobsOptions;
  readonly #running = new Map<string, Promise<boolean>>();
  readonly #stopping = new AbortController();
  readonly #looking: NodeJS.Timeout | undefined;

  constructor(kind: JobKind, options: JobsOptions) {
    this.#kind = kind;
    this.#options = options;
    const { everyMs } = options;
    if (everyMs !== undefined) this.#looking = setInterval(() => void this.resume(), everyMs).unref();
  }

  /**
   * Does a job, or waits for the process that does it, until it is done.
   *
   * @param isDone default: its record says that nothing is left
   * @throws the job's error, or ThroughlineError `unavailable` if this process stops
   */
  async finish(job: string, isDone = () => this.#isDone(job)): Promise<void> {
    while (!(await isDone())) {
      this.#stopping.signal.throwIfAborted();
      if (!(await this.#attempt(job))) await pause(LOOK_MS, this.#stopping.signal);
    }
  }

  /** Resumes unfinished jobs that no other process runs. Never rejects: the next look retries. */
  async resume(): Promise<void> {
    const { name, failed } = this.#kind;
    try {
      for (const job of await this.#kind.unfinished())
        if (!this.#running.has(job) && !this.#stopping.signal.aborted) await this.#attempt(job);
    } catch (error) {
      // Another process has taken over, or this one is stopping.
      if (codeOf(error) === 'conflict' || this.#stopping.signal.aborted) return;
      this.#options.logger.warn({ job: name, code: codeOf(error), err: error }, failed);
    }
  }

  /** Aborts the running jobs; other processes resume them. */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#stopping.abort(new ThroughlineError('unavailable', 'the service ends: ask again'));
    await Promise.allSettled(this.#running.values());
  }

  async #isDone(job: string): Promise<boolean> {
    return !(await this.#kind.unfinished()).includes(job);
  }

  /** Joins the running job or starts it; false if another process has its lease. */
  #attempt(job: string): Promise<boolean> {
    const running = this.#running.get(job);
    if (running !== undefined) return running;
    const attempt = this.#underLease(job).finally(() => this.#running.delete(job));
    this.#running.set(job, attempt);
    return attempt;
  }

  async #underLease(job: string): Promise<boolean> {
    const { leases, clock: now, newId } = this.#options;
    const { name, run } = this.#kind;
    const options = { holder: newId(), ttlMs: TTL_MS, now, what: `job ${name}` };
    const lease = await holdLease(leases, job === '' ? name : `${name}.${hashOf(job)}`, options);
    if (!isHeld(lease)) return false;
    const stopping = this.#stopping.signal;
    const confirm = async () => {
      stopping.throwIfAborted();
      await lease.confirm();
    };
    try {
      await run(job, { ...lease, lost: AbortSignal.any([lease.lost, stopping]), confirm });
    } finally {
      await lease.release();
    }
    return true;
  }
}
