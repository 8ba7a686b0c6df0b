import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import type { Monitoring, MonitoringPage } from './monitoring.js';

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
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the monitoring pages to every host: they hold only counts and names. Port 0 is any. Throws `config_invalid`. */
export async function startMonitoringServer(
  monitoring: Monitoring,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MonitoringServer> {
  const server = createServer((request, response) => void answer(monitoring, request, response));
  const at = await listenOn(server, host, port, ['metrics cannot be served', 'choose another one']);
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
  { method, url = '/' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/'] = url.split('?');
  const isRead = method === 'GET' || method === 'HEAD';
  const page = isRead ? ((await monitoringPage(monitoring, path)) ?? NOT_FOUND) : NOT_ALLOWED;
  response.writeHead(page.status, {
    'content-type': page.type,
    'content-length': Buffer.byteLength(page.body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(method === 'HEAD' ? undefined : page.body);
}

const NOT_FOUND: MonitoringPage = {
  status: 404,
  type: 'text/plain; charset=utf-8',
  body: 'there is only /metrics, /healthz, /readyz\n',
};
const NOT_ALLOWED: MonitoringPage = { status: 405, type: 'text/plain; charset=utf-8', body: 'use GET\n' };

/** Listens, and resolves to the port. Throws `config_invalid` with `words`: what fails, and what to do. */
export async function listenOn(
  server: Server,
  host: string,
  port: number,
  [what, fix]: readonly [what: string, fix: string],
): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (cause) {
    const isTaken = systemCode(cause) === 'EADDRINUSE';
    const why = isTaken ? `another process uses that port: ${fix}` : messageOf(cause);
    throw new ThroughlineError('config_invalid', `${what} on ${host}, port ${port}: ${why}`, { cause });
  }
}
