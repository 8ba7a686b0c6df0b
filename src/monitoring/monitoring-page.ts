import type { Monitoring } from './monitoring.js';

/** An answer to a GET request, whatever it is served by. */
export interface MonitoringPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export const MONITORING_PATHS = ['/metrics', '/healthz', '/readyz'] as const;

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * What a process answers at `/metrics`, `/healthz` and `/readyz`; undefined for any other path.
 *
 * @param path without a query
 */
export async function monitoringPage(
  monitoring: Monitoring,
  path: string,
): Promise<MonitoringPage | undefined> {
  switch (path) {
    case '/metrics':
      return { status: 200, type: PROMETHEUS, body: await monitoring.metrics.text() };
    case '/healthz':
      // That it answers is all: a process whose event loop hangs does not.
      return json(200, { status: 'ok' });
    case '/readyz': {
      const waitsFor = monitoring.notReady();
      return waitsFor.length === 0
        ? json(200, { status: 'ok' })
        : json(503, { status: 'not ready', waitsFor });
    }
    default:
      return undefined;
  }
}

function json(status: number, body: object): MonitoringPage {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(body)}\n` };
}
