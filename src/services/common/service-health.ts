import { codeOf } from '../../contracts/errors.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { HealthParts, Incident, Incidents } from './service-context.js';

export function countingLogger(logger: Logger, clock: Clock): { logger: Logger; incidents(): Incidents } {
  const counts = { warn: 0, error: 0 };
  let last: Incident | null = null;
  const counted = (level: 'warn' | 'error') => (fields: object, message: string) => {
    counts[level] += 1;
    last = { at: clock(), level, message, ...incidentFields(fields) };
    logger[level](fields, message);
  };
  return {
    logger: { ...logger, warn: counted('warn'), error: counted('error') },
    incidents: () => ({ warnings: counts.warn, errors: counts.error, last }),
  };
}

function incidentFields(fields: object): Pick<Incident, 'code' | 'session' | 'dispatch'> {
  return {
    ...('code' in fields && typeof fields.code === 'string' && { code: fields.code }),
    ...('session' in fields && typeof fields.session === 'string' && { session: fields.session }),
    ...('dispatch' in fields && typeof fields.dispatch === 'number' && { dispatch: fields.dispatch }),
  };
}

/** Adds a service's own numbers to the common health, or the error code if they are unavailable. */
export function healthOf(parts: HealthParts, numbers: () => object | Promise<object>): () => Promise<object> {
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
      ...(await Promise.resolve()
        .then(numbers)
        .catch((error: unknown) => ({ unknown: codeOf(error) }))),
    };
  };
}
