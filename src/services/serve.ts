import { hostname } from 'node:os';
import { SERVICE_NAMES, type ServiceName, type Token } from '../contracts/names.js';
import { Monitoring } from '../engine/monitoring/monitoring.js';
import { systemClock } from '../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../engine/ports/session-lifecycle.js';
import { watchConnection } from '../nats/connection/connection-states.js';
import type { NatsAddress } from '../nats/connection/nats-access.js';
import { type NatsPorts, openNats } from '../nats/open-nats.js';
import { VERSION } from '../version.js';
import { knownSessions, openSessions } from './common/open-sessions.js';
import {
  type Context,
  type HealthParts,
  namedLogger,
  natsOptions,
  type Serving,
} from './common/service-context.js';
import { connectionMetrics, countingLogger, foldedMetrics } from './common/service-metrics.js';
import { serveCompiler } from './compiler/prompt-compiler.js';
import { serveExtractor } from './extractor/extractor-worker.js';
import { serveKeeper } from './keeper/serve-keeper.js';
import { reviewHarvest } from './learnings/harvesters.js';
import { openProjects, serveLearnings } from './learnings/serve-learnings.js';
import { serveTools } from './tools/serve-tools.js';

/** All services, in the order in which they start. */
export const SERVICES = Object.keys(SERVICE_NAMES) as ServiceName[];

const NEEDS_SESSIONS: ReadonlySet<ServiceName> = new Set(['tools', 'keeper']);

/** The composition root: connects to NATS and starts the services with their ports; `shutdown` stops them. */
export async function serve(
  url: NatsAddress,
  context: Context,
  only: readonly ServiceName[] = SERVICES,
): Promise<NatsPorts> {
  const { config, shutdown } = context;
  const name = `throughline ${only.join('+')}`;
  const { logger, incidents } = countingLogger(namedLogger(context.logger, 'throughline'), systemClock);
  const { monitoring = new Monitoring(), traceSessions = false } = context;
  monitoring.expect('nats');
  for (const service of only) monitoring.expect(SERVICE_NAMES[service]);
  const options = natsOptions(url, name, config, logger);
  // The log needs the records, which are opened on its connection.
  let records: SessionLifecycle | undefined;
  const later = {
    forgotten: (session: Token) => records?.forgotten(session),
    refreshed: () => records?.refreshed(),
  };
  const nats = await openNats({ ...options, lifecycle: later });
  shutdown.add('the NATS connection', () => nats.close());
  const lifecycle = await nats.openLifecycle();
  records = lifecycle;
  shutdown.add('the lifecycle records', async () => lifecycle.close());
  const started = performance.now();
  const connection = watchConnection(nats.connection);
  monitoring.expect('nats', () => connection().connected);
  monitoring.metrics.add(connectionMetrics(connection, incidents));
  const health: HealthParts = {
    host: hostname(),
    pid: process.pid,
    uptimeMs: () => performance.now() - started,
    connection,
    incidents,
  };
  const serving: Serving = { config, logger, shutdown, health, lifecycle, monitoring, traceSessions };
  /** Keeps requests from queueing behind dispatches or events. */
  const connectionOfItsOwn = async (whose: string) => {
    const ports = await openNats({ ...options, makes: false, lifecycle });
    shutdown.add(`the NATS connection of ${whose}`, () => ports.close());
    return ports;
  };
  const start = (name: ServiceName, run: (scoped: Serving) => Promise<void>) =>
    only.includes(name) ? startNamed(SERVICE_NAMES[name], serving, run) : undefined;
  const isAlone = only.every((service) => service === 'extractor');
  const sessions = openSessions(nats, config, logger, lifecycle);
  shutdown.add('the snapshot writer', () => sessions.writer.stop());
  const projects = openProjects(nats, serving);
  await start('extractor', async (scoped) => {
    const ports = isAlone ? nats : await connectionOfItsOwn('the extractor');
    const { learnings } = nats;
    const harvest = reviewHarvest({
      ...{ learnings, projects: projects.reader, command: projects.inBackground, lifecycle },
      ...{ sessions: sessions.reader, recurrence: config.recurrence },
    });
    return serveExtractor(ports, scoped, sessions.isAwaited, sessions.reader, harvest);
  });
  if (isAlone) return nats;
  monitoring.metrics.add(foldedMetrics('session', sessions.reader, sessions.writer));
  const known = only.some((service) => NEEDS_SESSIONS.has(service))
    ? await knownSessions(nats, await connectionOfItsOwn('the feed of sessions'), serving)
    : undefined;
  await start('compiler', (scoped) => serveCompiler(nats, sessions, projects, scoped));
  if (known !== undefined)
    await start('tools', (scoped) => serveTools(nats, sessions, projects, known, scoped));
  await start('learnings', (scoped) => serveLearnings(nats, projects, sessions.reader, scoped));
  if (known !== undefined) {
    await start('keeper', (scoped) => serveKeeper(nats, sessions, projects, known, scoped));
    known.feed.start();
  }
  return nats;
}

/** Starts a service and logs its start and stop. */
async function startNamed(
  name: string,
  serving: Serving,
  run: (scoped: Serving) => Promise<void>,
): Promise<void> {
  const logger = namedLogger(serving.logger, name);
  let listens = false;
  // Added first, so that it runs after everything that the service adds.
  serving.shutdown.add(`the log of ${name}`, async () => {
    if (listens) logger.info({ version: VERSION }, 'service stopped');
  });
  await run({ ...serving, logger });
  listens = true;
  logger.info({ version: VERSION }, 'service started');
}
