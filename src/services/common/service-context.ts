import type { Config } from '../../config/config.js';
import type {
  SessionCommander,
  SessionReader,
  SessionSnapshotWriter,
} from '../../engine/folding/session-folding.js';
import type { Monitoring } from '../../engine/monitoring/monitoring.js';
import type { Logger } from '../../engine/ports/logger.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { Tracing } from '../../engine/ports/tracing.js';
import type { Shutdown } from '../../engine/runtime/shutdown.js';
import type { HealthParts } from './health.js';
import type { ProgressTracker } from './progress-tracker.js';
import type { RawRequest } from './request-guard.js';

/** The start parameters of every service; `shutdown` stops it again. */
export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
  /** What the process shows to those who watch it. Default: nothing that anyone reads. */
  readonly monitoring?: Monitoring;
  /** Where spans go. Default: to the OpenTelemetry SDK that is registered in the process. */
  readonly tracing?: Tracing;
}

/** The same with the health that all services of one process share. */
export interface Serving extends Context {
  readonly monitoring: Monitoring;
  readonly tracing: Tracing;
  readonly health: HealthParts;
  /** What is recorded of sessions beside their events: one view for all services of the process. */
  readonly lifecycle: SessionLifecycle;
  /** Whether a request may be read: one budget for all services of the process. */
  readonly admit: (request: RawRequest) => void;
}

/** Shared by the services that fold sessions: one cache of states, one queue of commands, one view of task files. */
export interface Sessions {
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly command: SessionCommander;
  readonly tracker: ProgressTracker;
}

/** The part of the health of a service that folds sessions. */
export function numbersOf({ reader, writer }: Sessions): object {
  return { sessionsInMemory: reader.size, snapshots: writer.counts };
}

/** A logger whose lines say which service they come from; a `service` among their fields stands in place of `name`. */
export function namedLogger(logger: Logger, name: string): Logger {
  const named = (fields: object) => ({ service: name, ...fields });
  return {
    ...(logger.debug && {
      debug: (fields: object, message: string) => logger.debug?.(named(fields), message),
    }),
    info: (fields, message) => logger.info(named(fields), message),
    warn: (fields, message) => logger.warn(named(fields), message),
    error: (fields, message) => logger.error(named(fields), message),
  };
}

/** How this configuration connects. */
export function natsOptions(url: string, name: string, config: Config, logger: Logger, tracing?: Tracing) {
  const { access, replicas, requestTimeoutMs, ackWaitMs, maxInHand, layout, shards } = config;
  return {
    url,
    name,
    access,
    logger,
    replicas,
    requestTimeoutMs,
    ackWaitMs,
    maxInHand,
    wanted: { layout, shards },
    ...(tracing && { tracing }),
  };
}
