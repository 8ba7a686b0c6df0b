import { codeOf } from '../../contracts/errors.js';
import { byLabel, type Collector, type Monitoring } from '../../engine/monitoring/monitoring.js';
import type { Clock, Logger } from '../../engine/ports/logger-and-clock.js';
import type { ConnectionHealth } from '../../nats/connection/connect-nats.js';
import type { RunningService } from '../../nats/micro/micro-service.js';
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

export function watchService(monitoring: Monitoring, name: string, service: RunningService): void {
  monitoring.expect(name, () => service.listens());
  monitoring.metrics.add(() => {
    const { requests, errors } = service.totals();
    return {
      throughline_requests_total: Object.entries(requests).map(([subject, count]) => [
        // Requests also arrive on the subject of their session.
        { service: name, subject: subject.replace(/\.\*$/, '') },
        count,
      ]),
      throughline_request_errors_total: Object.entries(errors).map(([code, count]) => [
        { service: name, code },
        count,
      ]),
    };
  });
}

export function foldedMetrics(
  of: 'session' | 'project',
  reader: { readonly counts: { hits: number; misses: number; events: number }; size: number; bytes: number },
  writer: { readonly counts: { written: number; failed: number } },
): Collector {
  return () => ({
    throughline_cache_hits_total: [[{ of }, reader.counts.hits]],
    throughline_cache_misses_total: [[{ of }, reader.counts.misses]],
    throughline_cache_entries: [[{ of }, reader.size]],
    throughline_cache_bytes: [[{ of }, reader.bytes]],
    throughline_events_folded_total: [[{ of }, reader.counts.events]],
    throughline_snapshots_written_total: [[{ of }, writer.counts.written]],
    throughline_snapshots_failed_total: [[{ of }, writer.counts.failed]],
  });
}

export function connectionMetrics(connection: () => ConnectionHealth, incidents: () => Incidents): Collector {
  return () => {
    const { connected, disconnects } = connection();
    const { warnings, errors } = incidents();
    return {
      throughline_nats_connected: [[{}, connected ? 1 : 0]],
      throughline_nats_disconnects_total: [[{}, disconnects]],
      throughline_log_messages_total: byLabel('level', { warn: warnings, error: errors }),
    };
  };
}
