import { randomUUID } from 'node:crypto';
import { codeOf, ThroughlineError } from '../../contracts/errors.js';
import { type HeldLease, holdLease, isHeld, type LeaseStore } from '../../engine/ports/lease-store.js';
import type { Logger } from '../../engine/ports/logger-and-clock.js';
import { OneAtATime } from '../../engine/runtime/pacing.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { Process } from '../common/process-parts.js';
import type { Service } from '../common/service-shell.js';
import { type Archiver, lifecyclePorts } from '../lifecycle/archive-session.js';
import { followRules, type RetentionPorts } from '../lifecycle/follow-retention.js';
import { type ForgetPorts, forgetSessions } from '../lifecycle/forget-session.js';
import { SessionKeeper } from './session-keeper.js';

const TICK_MS = 500;
const NUMBERS_MS = 60_000;

/** Opens `keeper`: background work on sessions. It answers only health requests. */
export async function openKeeper(parts: Process): Promise<Service> {
  const { config, logger, shutdown, nats, sessions } = parts;
  const known = await parts.known();
  const { table, feed } = known;
  const ports = lifecyclePorts(parts, known);
  const upkeep = new LifecycleKeeper(ports);
  const keeper = new SessionKeeper({ ...ports, writer: sessions.writer, times: config });
  feed.add(keeper);
  const ticking = setInterval(
    () => {
      void keeper.tick();
      void upkeep.tick();
    },
    Math.min(TICK_MS, config.quietMs),
  );
  let recording = recordNumbers(nats, logger);
  const numbering = setInterval(() => {
    recording = recordNumbers(nats, logger);
  }, NUMBERS_MS);
  shutdown.add('the keeper', async () => {
    clearInterval(ticking);
    clearInterval(numbering);
    await Promise.all([upkeep.stop(), recording]);
    await keeper.stop();
  });
  return { numbers: () => ({ sessions: table.size, waiting: keeper.waiting, ...keeper.counts }) };
}

/** Records the newest dispatch number, above which a lost stream is created again. Never rejects: the next run retries. */
async function recordNumbers(
  { source, numbers }: Pick<NatsPorts, 'source' | 'numbers'>,
  logger: Logger,
): Promise<void> {
  try {
    await numbers.record(await source.newest());
  } catch (error) {
    logger.warn({ code: codeOf(error), err: error }, 'the newest dispatch number could not be recorded');
  }
}

export type LifecycleKeeperPorts = ForgetPorts &
  RetentionPorts & { readonly archiver: Archiver; readonly leases: LeaseStore };

const AGAIN_MS = 5000;
const LEASE_MS = 10_000;
/** Interval of the retention rules; changed rules are followed within a minute. */
const RULES_EVERY_MS = 3_600_000;
const LOOK_EVERY_MS = 60_000;

/**
 * Does what the lifecycle records ask for: compacts archived sessions, erases forgotten ones, and follows the retention rules.
 * The records say what is left to do and each task can be run again, so any keeper resumes what another one left. Erasing and the rules are done under a lease, by one keeper at a time.
 */
export class LifecycleKeeper {
  readonly #ports: LifecycleKeeperPorts;
  readonly #tasks: readonly OneAtATime[];
  readonly #stopping = new AbortController();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #rulesAt = Number.NEGATIVE_INFINITY;

  constructor(ports: LifecycleKeeperPorts) {
    this.#ports = ports;
    this.#tasks = [
      this.#task('sessions are not archived to the end yet', () => this.#compact()),
      this.#task('sessions are not forgotten yet', () => this.#forget()),
      this.#task('the rules of retention were not followed', () => this.#followRules()),
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
    const mayGoOn = () => this.#stopping.signal.throwIfAborted();
    let fault: unknown;
    for (const session of lifecycle.archiving()) {
      mayGoOn();
      // One that fails does not keep the others from it.
      await archiver.compact(session, mayGoOn).catch((error: unknown) => {
        fault = error;
      });
    }
    if (fault !== undefined) throw fault;
  }

  async #forget(): Promise<void> {
    if (this.#ports.lifecycle.unfinished().length > 0)
      await this.#underLease('forget', (lease) => forgetSessions(this.#ports, lease));
  }

  async #followRules(): Promise<void> {
    const { store, now } = this.#ports;
    if (now() < this.#lookedAt + LOOK_EVERY_MS) return;
    this.#lookedAt = now();
    const rules = await store.rules();
    if (rules.rules.length === 0) return;
    const isChanged = rules.rules.some(({ at }) => Date.parse(at) > this.#rulesAt);
    if (!isChanged && now() < this.#rulesAt + RULES_EVERY_MS) return;
    const begun = now();
    await this.#underLease('retention', async (lease) => {
      await followRules(this.#ports, rules, lease);
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
