import type { Config } from '../../config/config.js';
import type {
  ProjectReader,
  SessionCommander,
  SessionReader,
  SessionSnapshotWriter,
} from '../../engine/folding/session-folding.js';
import type { DispatchSource, RejectedStore } from '../../engine/ports/dispatch-source.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { SessionLifecycle } from '../../engine/ports/session-lifecycle.js';
import type { SessionLog, SnapshotStore } from '../../engine/ports/session-log.js';
import type { ConcurrencyLimit } from '../../engine/runtime/pacing.js';
import type { Shutdown } from '../../engine/runtime/shutdown.js';
import type { NatsAddress } from '../../nats/connection/nats-access.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import type { ProgressTracker } from './progress-tracker.js';

export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
}

/** `Context` with the parts that all services of one process share. */
export interface Serving extends Context {
  readonly health: HealthParts;
  readonly lifecycle: SessionLifecycle;
}

/** Shared by the services that fold sessions: one cache, one command queue, one tracker of task files. */
export interface Sessions {
  readonly reader: SessionReader;
  readonly writer: SessionSnapshotWriter;
  readonly command: SessionCommander;
  readonly tracker: ProgressTracker;
}

/** The parts of a process that handlers of requests about sessions use, each some of them. */
export interface ToolPorts extends Sessions {
  readonly log: SessionLog;
  readonly projects: Pick<ProjectReader, 'load'>;
  readonly snapshots: Pick<SnapshotStore, 'loadAtOrBefore'>;
  readonly prompts: Pick<NatsPorts['prompts'], 'all'>;
  readonly rejected: RejectedStore;
  readonly source: Pick<DispatchSource, 'publish'>;
  readonly lifecycle: Pick<SessionLifecycle, 'archived'>;
  readonly clock: Clock;
  readonly waiters: ConcurrencyLimit;
  readonly afterTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxReplyBytes: () => number;
}

export function numbersOf({ reader, writer }: Sessions): object {
  return { sessionsInMemory: reader.size, snapshots: writer.counts };
}

/** Adds `service: name` to each line, unless its fields name another service. */
export function namedLogger(logger: Logger, name: string): Logger {
  const named = (level: keyof Logger) => (fields: object, message: string) =>
    logger[level]?.({ service: name, ...fields }, message);
  return {
    ...(logger.debug && { debug: named('debug') }),
    info: named('info'),
    warn: named('warn'),
    error: named('error'),
  };
}

export function natsOptions(url: NatsAddress, name: string, config: Config, logger: Logger) {
  return { ...config, url, name, logger, wanted: config };
}

export interface Incident {
  readonly at: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly code?: string;
  readonly session?: string;
  readonly dispatch?: number;
}

export interface Incidents {
  readonly warnings: number;
  readonly errors: number;
  readonly last: Incident | null;
}

/** The health of a process, shown in the statistics of its micro services. */
export interface HealthParts {
  readonly host: string;
  readonly pid: number;
  readonly uptimeMs: () => number;
  readonly connection: () => object;
  readonly incidents: () => Incidents;
}
