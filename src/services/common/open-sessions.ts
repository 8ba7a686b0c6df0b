import { randomUUID } from 'node:crypto';
import { type Config, connectedRoots } from '../../config/config.js';
import { sessionRequest } from '../../contracts/names.js';
import { localTasksFile } from '../../files/local-tasks-file.js';
import { createCommander } from '../../folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../folding/session-folding.js';
import { requestJson } from '../../nats/connection/nats-client-transport.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { systemClock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import { noTracing, type Tracing } from '../../ports/tracing.js';
import { scannerFor } from '../../redaction/secretlint-scanner.js';
import { type Forgetting, lifeBy } from './forgotten-results.js';
import { ProgressTracker } from './progress-tracker.js';
import { progressByTools } from './remote-progress.js';
import type { Sessions } from './service-context.js';

/**
 * Sessions as the services of one process share them.
 *
 * @param appends whether commands are carried out here; otherwise the tools are asked to
 */
export function openSessions(
  nats: NatsPorts,
  config: Config,
  logger: Logger,
  appends: boolean,
  tracing: Tracing = noTracing,
  lifecycle?: Forgetting,
): Sessions {
  const { reader, writer } = sessionReader(nats, config, logger, lifecycle);
  const command = appends
    ? createCommander({ log: nats.log, reader, clock: systemClock, newId: randomUUID, random: Math.random })
    : progressByTools((subject, session) =>
        requestJson(
          nats.connection,
          sessionRequest(subject, session),
          { session },
          config.requestTimeoutMs,
          tracing()?.context(),
        ),
      );
  const tracker = new ProgressTracker({
    files: localTasksFile(config.tasksRoots, () => connectedRoots(config)),
    command,
    logger,
    secrets: scannerFor(config),
  });
  return { reader, writer, command, tracker };
}

/** A reader of sessions, together with the writer of their snapshots. */
export function sessionReader(nats: NatsPorts, config: Config, logger: Logger, lifecycle?: Forgetting) {
  const writer = createSnapshotWriter({
    snapshots: nats.snapshots,
    clock: systemClock,
    logger,
    every: config.snapshotEvery,
  });
  const reader = createSessionReader({
    log: nats.log,
    snapshots: nats.snapshots,
    logger,
    maxSessions: config.maxCached,
    maxBytes: config.cacheMb * 1_000_000,
    onFolded: (folded) => writer.folded(folded),
    ...(lifecycle !== undefined && { lifeOf: lifeBy(lifecycle) }),
  });
  return { reader, writer };
}
