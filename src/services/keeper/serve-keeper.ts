import { KEEPER_SERVICE } from '../../contracts/names.js';
import { startService } from '../../nats/micro/micro-service.js';
import { healthEndpoint } from '../../nats/micro/service-endpoint.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { VERSION } from '../../version.js';
import { healthOf } from '../common/health.js';
import type { KnownSessions } from '../common/known-sessions.js';
import type { Serving, Sessions } from '../common/service-context.js';
import { watchService } from '../common/service-metrics.js';
import type { ProjectLogs } from '../learnings/serve-learnings.js';
import { openRetention } from '../lifecycle/open-retention.js';
import { keeperMetrics } from './keeper-metrics.js';
import { expireForgotten } from './lifecycle-upkeep.js';
import { RetentionKeeper } from './retention-keeper.js';
import { SessionKeeper } from './session-keeper.js';

/** How often it looks for what is due, in milliseconds. */
const TICK_MS = 500;
/** How often it looks at the records of forgotten sessions, and at the rules of retention. */
const UPKEEP_MS = 60_000;

/** The service `keeper`: what is done for sessions while nobody waits for it. It answers no requests but for its health. */
export async function serveKeeper(
  nats: NatsPorts,
  sessions: Sessions,
  projects: ProjectLogs,
  { table, feed, now }: KnownSessions,
  { config, logger, shutdown, health, lifecycle, admit, tracing, monitoring }: Serving,
): Promise<void> {
  const { quietMs, busyMs, restMs } = config;
  const keeper = new SessionKeeper({
    table,
    reader: sessions.reader,
    writer: sessions.writer,
    index: nats.index,
    lifecycle,
    logger,
    times: { quietMs, busyMs, restMs },
    now,
  });
  feed.add(keeper);
  const ticking = setInterval(() => void keeper.tick(), Math.min(TICK_MS, quietMs));
  const ports = openRetention(nats, sessions, projects, { table, feed, now }, { lifecycle, logger });
  const retention = new RetentionKeeper(ports);
  const upkeep = async () => {
    await expireForgotten(lifecycle, logger, now());
    await retention.tick();
  };
  // The first time, the sessions are not known yet.
  let expiring = expireForgotten(lifecycle, logger, now());
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
  const own = () => ({ sessions: table.size, waiting: keeper.waiting, ...keeper.counts });
  const service = await startService(nats.connection, {
    name: KEEPER_SERVICE,
    version: VERSION,
    description: 'Keeps the index and the snapshots of sessions, and follows the rules of retention',
    logger,
    admit,
    tracing,
    endpoints: [healthEndpoint(KEEPER_SERVICE, healthOf(health, own))],
  });
  watchService(monitoring, KEEPER_SERVICE, service);
  shutdown.add('the health of the keeper', () => service.stop());
}
