import { randomUUID } from 'node:crypto';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../../engine/ports/lease-store.js';
import { OneAtATime, Semaphore } from '../../engine/runtime/batched.js';
import type { Archiver } from '../lifecycle/archive-session.js';
import { followRules, type RetentionPorts } from '../lifecycle/follow-retention.js';
import { type ForgetPorts, forgetSessions, throwFirst } from '../lifecycle/forget-session.js';

export type LifecycleKeeperPorts = ForgetPorts &
  RetentionPorts & { readonly archiver: Archiver; readonly leases: LeaseStore };

/** Pause after a failure, in milliseconds. */
const AGAIN_MS = 5000;
const LEASE_MS = 10_000;
/** Sessions that are compacted at the same time. */
const AT_ONCE = 4;
/** Interval of the retention rules; changed rules are followed within a minute. */
const RULES_EVERY_MS = 3_600_000;
const UPKEEP_EVERY_MS = 60_000;
/** No operation on a forgotten session can be in progress after this time, however long a process was suspended. */
const TOMBSTONES_KEPT_MS = 7 * 86_400_000;

/**
 * Does what the lifecycle records ask for: compacts archived sessions, erases forgotten ones, expires old tombstones, and
 * follows the retention rules. The records say what is left to do and each task can be run again, so any keeper resumes what
 * another one left. Erasing and the rules are done under a lease, by one keeper at a time.
 */
export class LifecycleKeeper {
  readonly #ports: LifecycleKeeperPorts;
  readonly #tasks: readonly OneAtATime[];
  readonly #stopping = new AbortController();
  #upkeepAt = Number.NEGATIVE_INFINITY;
  #rulesAt = Number.NEGATIVE_INFINITY;

  constructor(ports: LifecycleKeeperPorts) {
    this.#ports = ports;
    this.#tasks = [
      this.#task('sessions are not archived to the end yet', () => this.#compact()),
      this.#task('sessions are not forgotten yet', () => this.#forget()),
      this.#task('the rules of retention were not followed', () => this.#upkeep()),
    ];
  }

  /** Starts the tasks that are not running. Never rejects: the next tick retries. */
  async tick(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.run()));
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new ThroughlineError('unavailable', 'the keeper ends'));
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  #task(failed: string, work: () => Promise<void>): OneAtATime {
    const { logger, now } = this.#ports;
    let resumesAt = Number.NEGATIVE_INFINITY;
    return new OneAtATime(async () => {
      if (this.#stopping.signal.aborted || now() < resumesAt) return;
      try {
        await work();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        resumesAt = now() + AGAIN_MS;
        logger.warn({ code: codeOf(error), err: error }, `${failed}: it is tried again soon`);
      }
    });
  }

  async #compact(): Promise<void> {
    const { lifecycle, archiver } = this.#ports;
    const turns = new Semaphore(AT_ONCE);
    const compacting = lifecycle
      .archiving()
      .map((session) =>
        turns.run(() => archiver.compact(session, () => this.#stopping.signal.throwIfAborted())),
      );
    throwFirst(await Promise.allSettled(compacting));
  }

  async #forget(): Promise<void> {
    if (this.#ports.lifecycle.unfinished().length > 0)
      await this.#underLease('forget', (lease) => forgetSessions(this.#ports, lease));
  }

  async #upkeep(): Promise<void> {
    const { lifecycle, store, now, logger } = this.#ports;
    if (now() < this.#upkeepAt + UPKEEP_EVERY_MS) return;
    this.#upkeepAt = now();
    const removed = await lifecycle.expire(new Date(now() - TOMBSTONES_KEPT_MS).toISOString());
    if (removed > 0) logger.info({ removed }, 'records of forgotten sessions expired');
    const { rules, paused } = await store.rules();
    if (paused || rules.length === 0) return;
    const isChanged = rules.some(({ at }) => Date.parse(at) > this.#rulesAt);
    if (!isChanged && now() < this.#rulesAt + RULES_EVERY_MS) return;
    const begun = now();
    await this.#underLease('retention', async (lease) => {
      await followRules(this.#ports, lease);
      this.#rulesAt = begun;
    });
  }

  /** Works while this keeper holds a lease, unless another one has it. */
  async #underLease(key: string, work: (lease: HeldLease) => Promise<void>): Promise<void> {
    const { leases, clock } = this.#ports;
    const options = {
      holder: randomUUID(),
      ttlMs: LEASE_MS,
      now: clock,
      what: `the lease ${key} of keepers`,
    };
    const lease = await holdLease(leases, key, options);
    if (!isHeld(lease)) return;
    const confirm = async () => {
      this.#stopping.signal.throwIfAborted();
      await lease.confirm();
    };
    try {
      await work({ ...lease, confirm });
    } finally {
      await lease.release();
    }
  }
}
