import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { messageOf, systemCode, ThroughlineError } from '../contracts/errors.js';
import { isKnownHost, type KnownHosts, knownHosts } from './known-hosts.js';
import type { Monitoring } from './monitoring.js';
import { MONITORING_PATHS, type MonitoringPage, monitoringPage } from './monitoring-page.js';

/** The monitoring pages on a port of their own. */
export interface MonitoringServer {
  /** `http://host:port`. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves the monitoring pages.
 *
 * @param names under which it is reached beside the address that it listens on
 * @param port 0 for any free one
 * @throws ThroughlineError `config_invalid` when the port cannot be listened on
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
