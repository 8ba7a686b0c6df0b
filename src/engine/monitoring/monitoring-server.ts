import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { VERSION } from '../../version.js';
import { isKnownHost, type KnownHosts, knownHosts } from './known-hosts.js';
import type { Collector, Monitoring } from './monitoring.js';

/** A response to a GET request, independent of the server. */
export interface MonitoringPage {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export const MONITORING_PATHS = ['/metrics', '/healthz', '/readyz'] as const;

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the response for `/metrics`, `/healthz` or `/readyz`, or undefined for any other path (without query). */
export async function monitoringPage(
  monitoring: Monitoring,
  path: string,
): Promise<MonitoringPage | undefined> {
  switch (path) {
    case '/metrics':
      return { status: 200, type: PROMETHEUS, body: await monitoring.metrics.text() };
    case '/healthz':
      // Liveness only: a process whose event loop hangs does not answer.
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

interface MonitoringServer {
  /** `http://host:port`. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves the monitoring pages on a port of their own.
 *
 * @param names host names besides `host`
 * @param port 0 for any free one
 * @throws ThroughlineError `config_invalid` if it cannot listen on the port
 */
export async function startMonitoringServer(
  monitoring: Monitoring,
  { host, names, port }: { readonly host: string; readonly names?: readonly string[]; readonly port: number },
): Promise<MonitoringServer> {
  const hosts = knownHosts(host, names);
  const server = createServer((request, response) => void answer(monitoring, hosts, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(notListening(host, port, cause)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const at = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${at}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  monitoring: Monitoring,
  hosts: KnownHosts,
  { method, url = '/', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/'] = url.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  const page = !isKnownHost(headers.host, hosts)
    ? NOT_KNOWN
    : isRead
      ? ((await monitoringPage(monitoring, path)) ?? NOT_FOUND)
      : NOT_ALLOWED;
  response.writeHead(page.status, {
    'content-type': page.type,
    'content-length': Buffer.byteLength(page.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : page.body);
}

const NOT_KNOWN: MonitoringPage = {
  status: 403,
  type: 'text/plain; charset=utf-8',
  body: 'this host is not known: ask by the address, or start the services with --metrics-name and that host\n',
};
const NOT_FOUND: MonitoringPage = {
  status: 404,
  type: 'text/plain; charset=utf-8',
  body: `there is only ${MONITORING_PATHS.join(', ')}\n`,
};
const NOT_ALLOWED: MonitoringPage = { status: 405, type: 'text/plain; charset=utf-8', body: 'use GET\n' };

function notListening(host: string, port: number, cause: unknown): ThroughlineError {
  const why =
    systemCode(cause) === 'EADDRINUSE'
      ? 'another process uses that port: choose another one'
      : messageOf(cause);
  return new ThroughlineError('config_invalid', `metrics cannot be served on ${host}, port ${port}: ${why}`, {
    cause,
  });
}

/** Sampling interval of the event loop's delay; subtracted from the measured delay. */
const EVERY_MS = 20;

/** Collects the metrics of the process itself until `stop`. */
export function watchProcess(): { readonly collect: Collector; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let before = performance.eventLoopUtilization();
  const collect: Collector = () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal } = process.memoryUsage();
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const late = Math.max(0, delays.max / 1e9 - EVERY_MS / 1000);
    delays.reset();
    return {
      throughline_build_info: [[{ version: VERSION, node: process.versions.node }, 1]],
      throughline_process_start_time_seconds: [[{}, Math.round(performance.timeOrigin) / 1000]],
      throughline_process_cpu_seconds_total: [
        [{ mode: 'user' }, user / 1e6],
        [{ mode: 'system' }, system / 1e6],
      ],
      throughline_process_resident_memory_bytes: [[{}, rss]],
      throughline_process_heap_bytes: [
        [{ state: 'used' }, heapUsed],
        [{ state: 'total' }, heapTotal],
      ],
      throughline_event_loop_lag_seconds: [[{}, late]],
      throughline_event_loop_utilization_ratio: [[{}, utilization]],
    };
  };
  return { collect, stop: () => delays.disable() };
}
