import { codeOf } from '../../contracts/errors.js';
import type { Clock, Logger } from '../../engine/ports/clients.js';

/** The last logged warning or error, without foreign text. */
interface Incident {
  readonly at: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly code?: string;
  readonly session?: string;
  readonly dispatch?: number;
}

/** Counters of warnings and errors since the start. */
export interface Incidents {
  readonly warnings: number;
  readonly errors: number;
  readonly last: Incident | null;
}

/** Wraps a logger to count warnings and errors. */
export function countingLogger(logger: Logger, clock: Clock): { logger: Logger; incidents(): Incidents } {
  const counts = { warn: 0, error: 0 };
  let last: Incident | null = null;
  const counted = (level: 'warn' | 'error') => (fields: object, message: string) => {
    counts[level] += 1;
    last = { at: clock(), level, message, ...told(fields) };
    logger[level](fields, message);
  };
  return {
    logger: {
      ...(logger.debug && { debug: (fields: object, message: string) => logger.debug?.(fields, message) }),
      info: (fields, message) => logger.info(fields, message),
      warn: counted('warn'),
      error: counted('error'),
    },
    incidents: () => ({ warnings: counts.warn, errors: counts.error, last }),
  };
}

function told(fields: object): Pick<Incident, 'code' | 'session' | 'dispatch'> {
  return {
    ...('code' in fields && typeof fields.code === 'string' && { code: fields.code }),
    ...('session' in fields && typeof fields.session === 'string' && { session: fields.session }),
    ...('dispatch' in fields && typeof fields.dispatch === 'number' && { dispatch: fields.dispatch }),
  };
}

/** The health of a process, shown in the statistics of its micro services. */
export interface HealthParts {
  /** Name of the machine or container. */
  readonly host: string;
  readonly pid: number;
  readonly uptimeMs: () => number;
  readonly connection: () => object;
  readonly incidents: () => Incidents;
}

export type Health = () => Promise<object>;

/** Adds a service's own numbers to the common health, or the error code if they are unavailable. */
export function healthOf(parts: HealthParts, own: () => object | Promise<object>): Health {
  return async () => {
    const { warnings, errors, last } = parts.incidents();
    return {
      host: parts.host,
      pid: parts.pid,
      uptimeSeconds: Math.round(parts.uptimeMs() / 1000),
      connection: parts.connection(),
      warnings,
      errors,
      lastIncident: last,
      ...(await numbersOf(own)),
    };
  };
}

async function numbersOf(own: () => object | Promise<object>): Promise<object> {
  try {
    return await own();
  } catch (error) {
    return { unknown: codeOf(error) };
  }
}
