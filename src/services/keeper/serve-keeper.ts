import { codeOf } from '../../contracts/errors.js';
import { KEEPER_SERVICE } from '../../contracts/names.js';
import { byLabel, type Collector } from '../../engine/monitoring/monitoring.js';
import { clockBy, type Logger } from '../../engine/ports/clients.js';
import { pause } from '../../engine/runtime/batched.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { KnownSessions } from '../common/open-sessions.js';
import type { Serving, Sessions } from '../common/service-context.js';
import { serveMicro } from '../common/service-metrics.js';
import type { ProjectLogs } from '../learnings/serve-learnings.js';
import { openArchiver } from '../lifecycle/archive-session.js';
import { LifecycleKeeper } from './lifecycle-keeper.js';
import { SessionKeeper } from './session-keeper.js';

/** Interval of the search for due sessions, in milliseconds. */
const TICK_MS = 500;
/** Interval for recording dispatch numbers. */
const NUMBERS_MS = 60_000;

/** Serves `keeper`: background work on sessions. It answers only health requests. */
export async function serveKeeper(
  nats: NatsPorts,
  sessions: Sessions,
  projects: ProjectLogs,
  known: KnownSessions,
  serving: Serving,
): Promise<void> {
  const { config, logger, shutdown, lifecycle, monitoring } = serving;
  const { reader, writer } = sessions;
  const { table, feed, now } = known;
  const { index } = nats;
  const keeper = new SessionKeeper({ table, reader, writer, index, lifecycle, logger, times: config, now });
  feed.add(keeper);
  const upkeep = new LifecycleKeeper(lifecyclePorts(nats, sessions, projects, known, serving));
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
  monitoring.metrics.add(keeperMetrics(keeper));
  await serveMicro(nats.connection, serving, {
    name: KEEPER_SERVICE,
    description:
      'Keeps the index and the snapshots of sessions, archives and forgets them, and follows the rules of retention',
    what: 'the health of the keeper',
    own: () => ({ sessions: table.size, waiting: keeper.waiting, ...keeper.counts }),
  });
}

export function lifecyclePorts(
  nats: NatsPorts,
  { reader }: Pick<Sessions, 'reader'>,
  projects: ProjectLogs,
  { table, feed, now }: KnownSessions,
  { lifecycle, logger }: Pick<Serving, 'lifecycle' | 'logger'>,
) {
  const archiver = openArchiver(nats, { reader }, { lifecycle });
  return {
    ...{ ...nats, ...projects, table, lifecycle, reader, archiver, now, pause, logger },
    caughtUp: () => feed.catchUp(),
    store: nats.retention,
    clock: clockBy(now),
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
