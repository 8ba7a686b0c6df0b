import { randomUUID } from 'node:crypto';
import { codeOf } from '../../contracts/errors.js';
import { NOTHING_DONE, type RetentionRules, type RetentionRun } from '../../contracts/lifecycle-record.js';
import { KEEPER_SERVICE } from '../../contracts/names.js';
import { byLabel, type Collector } from '../../engine/monitoring/monitoring.js';
import { clockBy, type Logger } from '../../engine/ports/clients.js';
import type { HeldLease } from '../../engine/ports/lease-store.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import { pause } from '../../engine/runtime/batched.js';
import { Jobs, RESUME_EVERY_MS } from '../../engine/runtime/jobs.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { KnownSessions } from '../common/open-sessions.js';
import type { Serving, Sessions } from '../common/service-context.js';
import { serveMicro } from '../common/service-metrics.js';
import type { ProjectLogs } from '../learnings/serve-learnings.js';
import { openArchiver } from '../lifecycle/archive-session.js';
import { followRules, type RetentionPorts } from '../lifecycle/follow-retention.js';
import { forgetKind } from '../lifecycle/forget-session.js';
import { SessionKeeper } from './session-keeper.js';

/** Interval of the search for due sessions, in milliseconds. */
const TICK_MS = 500;
/** Interval for recording dispatch numbers, expiring tombstones and following retention rules. */
const UPKEEP_MS = 60_000;

/** Serves `keeper`: background work on sessions. It answers only health requests. */
export async function serveKeeper(
  nats: NatsPorts,
  sessions: Sessions,
  projects: ProjectLogs,
  { table, feed, now }: KnownSessions,
  serving: Serving,
): Promise<void> {
  const { config, logger, shutdown, lifecycle, monitoring } = serving;
  const { reader, writer } = sessions;
  const { index } = nats;
  const keeper = new SessionKeeper({ table, reader, writer, index, lifecycle, logger, times: config, now });
  feed.add(keeper);
  const ticking = setInterval(() => void keeper.tick(), Math.min(TICK_MS, config.quietMs));
  const ports = openRetention(nats, sessions, projects, { table, feed, now }, serving);
  const retention = new RetentionKeeper(ports);
  const tidy = () => Promise.all([recordNumbers(nats, logger), expireForgotten(lifecycle, logger, now())]);
  const upkeep = async () => {
    await tidy();
    await retention.tick();
  };
  // At the start the sessions are not known yet, so no retention.
  let expiring: Promise<unknown> = tidy();
  const expiry = setInterval(() => {
    expiring = upkeep();
  }, UPKEEP_MS);
  shutdown.add('the keeper', async () => {
    clearInterval(ticking);
    clearInterval(expiry);
    await Promise.all([retention.stop(), ports.archiver.stop(), expiring]);
    await keeper.stop();
  });
  monitoring.metrics.add(keeperMetrics(keeper));
  await serveMicro(nats.connection, serving, {
    name: KEEPER_SERVICE,
    description: 'Keeps the index and the snapshots of sessions, and follows the rules of retention',
    what: 'the health of the keeper',
    own: () => ({ sessions: table.size, waiting: keeper.waiting, ...keeper.counts }),
  });
}

/** The ports of the rules of retention. */
export function openRetention(
  nats: NatsPorts,
  { reader, writer }: Pick<Sessions, 'reader' | 'writer'>,
  projects: ProjectLogs,
  { table, feed, now }: KnownSessions,
  { lifecycle, logger }: Pick<Serving, 'lifecycle' | 'logger'>,
) {
  const archiver = openArchiver(nats, { reader, writer }, { lifecycle, logger });
  return {
    ...{ ...nats, ...projects, table, lifecycle, reader, archiver, now, pause, logger },
    caughtUp: () => feed.catchUp(),
    store: nats.retention,
    clock: clockBy(now),
    newId: randomUUID,
  };
}

function keeperMetrics({ counts }: Pick<SessionKeeper, 'counts'>): Collector {
  return () => ({
    throughline_sessions_kept_total: byLabel('what', {
      entry: counts.entries,
      snapshot: counts.snapshots,
      failed: counts.failed,
    }),
  });
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

/** No operation on a forgotten session can be in progress after this time, however long a process was suspended. */
const KEPT_MS = 7 * 86_400_000;

/** Removes the tombstones of sessions that were forgotten a week ago. Never rejects: the next run retries. */
export async function expireForgotten(
  lifecycle: Pick<SessionLifecycle, 'expire'>,
  logger: Logger,
  now: number,
): Promise<void> {
  try {
    const removed = await lifecycle.expire(new Date(now - KEPT_MS).toISOString());
    if (removed > 0) logger.info({ removed }, 'records of forgotten sessions expired');
  } catch (error) {
    logger.warn({ code: codeOf(error), err: error }, 'records of forgotten sessions could not be removed');
  }
}

/** Interval of the retention rules; changed rules are followed soon. */
const EVERY_MS = 3_600_000;
const AGAIN_MS = 600_000;

export class RetentionKeeper {
  readonly #ports: RetentionPorts;
  readonly #jobs: Jobs;
  readonly #forgets: Jobs;

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
    this.#forgets = new Jobs(forgetKind(ports), { ...ports, everyMs: RESUME_EVERY_MS });
    const kind = {
      name: 'retention',
      failed: 'the rules of retention could not be followed',
      unfinished: async () => ((await this.#isDue(await ports.store.rules())) ? [''] : []),
      run: (_: string, lease: HeldLease) => this.#follow(lease),
    };
    this.#jobs = new Jobs(kind, ports);
  }

  /** Runs the rules if they are due. Never rejects: the next tick retries. */
  tick(): Promise<void> {
    return this.#jobs.resume();
  }

  /** Waits for the current step; another keeper resumes the rest. */
  async stop(): Promise<void> {
    await Promise.all([this.#jobs.stop(), this.#forgets.stop()]);
  }

  async #isDue(rules: RetentionRules): Promise<boolean> {
    const { store, now } = this.#ports;
    return rules.rules.length > 0 && !rules.paused && isDue(rules, await store.run(), now());
  }

  async #follow(lease: HeldLease): Promise<void> {
    const { store, clock, logger } = this.#ports;
    const rules = await store.rules();
    // Another keeper may have just done it.
    if (!(await this.#isDue(rules))) return;
    const startedAt = clock();
    const done = { ...NOTHING_DONE };
    const save = (more: Partial<RetentionRun> = {}) => store.saveRun({ v: 1, startedAt, ...done, ...more });
    await save();
    let error: string | undefined;
    try {
      const isDone = await followRules(this.#ports, rules, lease, this.#forgets, done);
      if (!isDone) error = 'the rules were changed';
    } catch (failure) {
      // Without `endedAt` another keeper resumes immediately.
      if (!lease.lost.aborted) await save({ endedAt: clock(), error: (failure as Error).message });
      throw failure;
    }
    await save({ endedAt: clock(), ...(error !== undefined && { error }) });
    logger.info({ version: rules.version, startedAt, ...done }, 'the rules of retention were followed');
  }
}

function isDue({ rules }: RetentionRules, last: RetentionRun | undefined, now: number): boolean {
  if (last === undefined || last.endedAt === undefined) return true;
  if (rules.some(({ at }) => at > last.startedAt)) return true;
  return now - Date.parse(last.startedAt) >= (last.error === undefined ? EVERY_MS : AGAIN_MS);
}
