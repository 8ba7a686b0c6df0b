import { hostname } from 'node:os';
import { SERVICE_NAMES, type ServiceName, type Token } from '../contracts/names.js';
import type { SessionLifecycle } from '../engine/ports/session-lifecycle.js';
import { systemClock } from '../engine/runtime/pacing.js';
import { watchConnection } from '../nats/connection/connect-nats.js';
import type { NatsAddress } from '../nats/connection/nats-access.js';
import { type NatsPorts, openNats } from '../nats/open-nats.js';
import { VERSION } from '../version.js';
import {
  type KnownSessions,
  knownSessions,
  openProjects,
  openSessions,
  type Process,
} from './common/process-parts.js';
import {
  type Context,
  type HealthParts,
  namedLogger,
  natsOptions,
  type Serving,
} from './common/service-context.js';
import { countingLogger } from './common/service-health.js';
import { type Service, serveRequests } from './common/service-shell.js';
import { openCompiler } from './compiler/prompt-compiler.js';
import { openExtractor } from './extractor/extractor-worker.js';
import { openKeeper } from './keeper/serve-keeper.js';
import { openLearnings } from './learnings/serve-learnings.js';
import { openTools } from './tools/serve-tools.js';

interface ServiceRow {
  readonly description: string;
  /** @param dispatchPorts ports on a separate connection for dispatches */
  readonly open: (parts: Process, dispatchPorts: NatsPorts) => Service | Promise<Service>;
}

/** Each service, in the order in which they start. */
const ROWS: Readonly<Record<ServiceName, ServiceRow>> = {
  extractor: { description: 'Turns dispatches into facts', open: openExtractor },
  compiler: { description: 'Compiles the next prompt from what a session remembers', open: openCompiler },
  tools: { description: 'Tasks, notes, inbox, iterations and runs of sessions', open: openTools },
  learnings: { description: 'Learnings and proposals of projects', open: openLearnings },
  keeper: {
    description:
      'Keeps the index and the snapshots of sessions, archives and forgets them, and follows the rules of retention',
    open: openKeeper,
  },
};

/** The names of the services, in the order in which they start. */
export const SERVICES = Object.keys(ROWS) as ServiceName[];

/** The composition root: connects to NATS and starts the services with their ports; `shutdown` stops them. */
export async function serve(
  url: NatsAddress,
  context: Context,
  only: readonly ServiceName[] = SERVICES,
): Promise<NatsPorts> {
  const { config, shutdown } = context;
  const name = `throughline ${only.join('+')}`;
  const { logger, incidents } = countingLogger(namedLogger(context.logger, 'throughline'), systemClock);
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
  const health: HealthParts = {
    host: hostname(),
    pid: process.pid,
    uptimeMs: () => performance.now() - started,
    connection,
    incidents,
  };
  const serving: Serving = { config, logger, shutdown, health, lifecycle };
  /** Keeps requests from queueing behind dispatches or events. */
  const separateConnection = async (whose: string) => {
    const ports = await openNats({ ...options, makes: false, lifecycle });
    shutdown.add(`the NATS connection of ${whose}`, () => ports.close());
    return ports;
  };
  const { now, clock, close } = await nats.openClock();
  shutdown.add('the clock of the server', async () => close());
  const sessions = openSessions(nats, config, logger, clock, lifecycle);
  shutdown.add('the snapshot writer', () => sessions.writer.stop());
  const projects = openProjects(nats, serving, clock);
  let opening: Promise<KnownSessions> | undefined;
  const known = () => {
    opening ??= separateConnection('the feed of sessions').then((ports) =>
      knownSessions(nats, ports, serving, now),
    );
    return opening;
  };
  const parts: Process = { ...serving, nats, sessions, projects, known };
  for (const service of SERVICES.filter((candidate) => only.includes(candidate))) {
    const isBeside = service === 'extractor' && only.length > 1;
    const dispatchPorts = isBeside ? await separateConnection('the extractor') : nats;
    await startNamed({ name: SERVICE_NAMES[service], ...ROWS[service] }, parts, dispatchPorts);
  }
  (await opening)?.feed.start();
  return nats;
}

async function startNamed(
  row: ServiceRow & { readonly name: string },
  parts: Process,
  dispatchPorts: NatsPorts,
): Promise<void> {
  const logger = namedLogger(parts.logger, row.name);
  let listens = false;
  // Added first, so that it runs after everything that the service adds.
  parts.shutdown.add(`the log of ${row.name}`, async () => {
    if (listens) logger.info({ version: VERSION }, 'service stopped');
  });
  const scoped = { ...parts, logger };
  await serveRequests(parts.nats.connection, scoped, row, await row.open(scoped, dispatchPorts));
  listens = true;
  logger.info({ version: VERSION }, 'service started');
}
