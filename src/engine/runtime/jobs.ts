import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { hashOf } from '../../shared/hash.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../ports/lease-store.js';
import type { Clock, Logger } from '../ports/logger.js';
import { pause } from './pauses.js';

/**
 * Runs jobs that outlive their process. What a job still has to do stands in a record of its own, and each of its steps can be
 * repeated. So a job has two states: left, or done. One process at a time, the holder of the job's lease, works on it; when
 * that one is killed, its lease ends, and any other process that looks for what is left goes on with it.
 */
export interface JobKind {
  /** Begins the keys of its leases. */
  readonly name: string;
  /** In the logs: "a session could not be archived yet". */
  readonly failed: string;
  /** Keys of the jobs whose records say that something is left to do. */
  readonly left: () => readonly string[] | Promise<readonly string[]>;
  /** Does what is left of a job. Confirms the lease before each step that must not be done by two. */
  readonly run: (job: string, lease: HeldLease) => Promise<void>;
}

export interface JobsOptions {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A new unique id for each lease. */
  readonly newId: () => string;
  /** Between two looks for what is left, in milliseconds. Default: no looks by itself. */
  readonly everyMs?: number;
}

const TTL_MS = 10_000;
/** Between two looks at a job that another process does. */
const LOOK_MS = 250;
export const LEFT_EVERY_MS = 2000;

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

  /** True while a job is done here. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Does a job, or waits for the process that does it, until nothing is left of it.
   *
   * @param isDone default: its record says that nothing is left
   * @throws what the job failed with here, and ThroughlineError `unavailable` if this process stops
   */
  async finish(job: string, isDone = () => this.#isDone(job)): Promise<void> {
    while (!(await isDone())) {
      this.#stopping.signal.throwIfAborted();
      if (!(await this.#attempt(job))) await pause(LOOK_MS, this.#stopping.signal);
    }
  }

  /** Does what is left and is not being done elsewhere. Throws nothing: the next look tries it again. */
  async resume(): Promise<void> {
    const { name, failed } = this.#kind;
    try {
      for (const job of await this.#kind.left())
        if (!this.#running.has(job) && !this.#stopping.signal.aborted) await this.#attempt(job);
    } catch (error) {
      // Another process has taken over, or this one stops.
      if (codeOf(error) === 'conflict' || this.#stopping.signal.aborted) return;
      this.#options.logger.warn({ job: name, code: codeOf(error), err: error }, failed);
    }
  }

  /** Ends what is done here soon, and leaves the rest to other processes. */
  async stop(): Promise<void> {
    clearInterval(this.#looking);
    this.#stopping.abort(new ThroughlineError('unavailable', 'the service ends: ask again'));
    await Promise.allSettled(this.#running.values());
  }

  async #isDone(job: string): Promise<boolean> {
    return !(await this.#kind.left()).includes(job);
  }

  /** Joins the run of a job here, or begins one; false if another process has its lease. */
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
