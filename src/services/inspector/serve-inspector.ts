import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { INSPECTOR_PORT, type InspectorRole } from '../../contracts/inspector-api.js';
import { builtFolder, userName } from '../../engine/files/user-state.js';
import type { NatsAddress } from '../../nats/connection/nats-access.js';
import { openLiveTransport } from '../../nats/connection/nats-client-transport.js';
import { UNNAMED } from '../../shared/wire-words.js';
import { type Context, namedLogger, natsOptions } from '../common/service-context.js';
import { knownHosts } from './access.js';
import { inspectorApp } from './inspector-app.js';
import { LiveFeed } from './live-feed.js';

interface InspectorOptions {
  readonly role: InspectorRole;
  /** In whose name the page acts. Default: the user of this process. */
  readonly user?: string | undefined;
  /** Address to listen on. Default: loopback. */
  readonly host?: string | undefined;
  /** Host names besides `localhost`, of a proxy or of this machine. */
  readonly names?: readonly string[] | undefined;
  /** Default: 4280, or the next free one; 0 for any free one. */
  readonly port?: number | undefined;
}

export interface RunningInspector {
  readonly url: string;
  readonly port: number;
  watching(): number;
}

const LOOPBACK = '127.0.0.1';
/** Time that requests get to finish on shutdown, in milliseconds. */
const GRACE_MS = 500;

/** Serves the inspector as an ordinary client with its user's rights. Throws as `connectNats`, or `config_invalid`. */
export async function serveInspector(
  nats: NatsAddress,
  context: Context,
  options: InspectorOptions,
): Promise<RunningInspector> {
  const { config, shutdown } = context;
  const { requestTimeoutMs, afterTimeoutMs } = config;
  const { host = LOOPBACK, role, user = userName() ?? UNNAMED } = options;
  const logger = namedLogger(context.logger, 'inspector');
  const transport = await openLiveTransport(natsOptions(nats, 'throughline inspector', config, logger));
  shutdown.add('the NATS connection of the inspector', () => transport.close());
  const server = createAdaptorServer({ fetch: (request, env) => app.fetch(request, env) });
  const port = await listening(server, host, options.port);
  const feed = new LiveFeed(transport);
  const token = config.inspectorToken ?? randomBytes(24).toString('base64url');
  const app = inspectorApp({
    token,
    transport,
    role,
    user,
    hosts: knownHosts(host, options.names),
    feed,
    timeoutMs: requestTimeoutMs + afterTimeoutMs,
    page: builtFolder('inspector'),
    logger,
  });
  shutdown.add('the inspector', async () => {
    feed.close();
    const ended = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    await Promise.race([ended, sleep(GRACE_MS, undefined, { ref: false })]);
    if ('closeAllConnections' in server) server.closeAllConnections();
    await ended;
  });
  logger.info({ host, port, role }, 'the inspector is served');
  return { url: `${urlOf(host, port)}/?token=${token}`, port, watching: () => feed.size };
}

/** A wildcard address cannot be opened: use loopback. */
function urlOf(host: string, port: number): string {
  const named = host === '0.0.0.0' || host === '::' ? LOOPBACK : host;
  return `http://${named.includes(':') ? `[${named}]` : named}:${port}`;
}

const TRIES = 20;

/** Listens on the port, else on the default or next free one. Throws ThroughlineError `config_invalid`. */
async function listening(server: ServerType, host: string, port?: number): Promise<number> {
  if (port !== undefined) return listenOn(server, host, port);
  for (let next = INSPECTOR_PORT; next < INSPECTOR_PORT + TRIES; next += 1) {
    try {
      return await listenOn(server, host, next);
    } catch (fault) {
      const { cause } = fault as ThroughlineError;
      if (systemCode(cause) !== 'EADDRINUSE') throw fault;
    }
  }
  return listenOn(server, host, 0);
}

/** Listens, and resolves to the port. Throws ThroughlineError `config_invalid`, whose `cause` is the fault of the socket. */
async function listenOn(server: ServerType, host: string, port: number): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (cause) {
    const isTaken = systemCode(cause) === 'EADDRINUSE';
    const why = isTaken
      ? 'another process uses that port: choose another one with --inspector-port'
      : messageOf(cause);
    const message = `the inspector cannot listen on ${host}, port ${port}: ${why}`;
    throw new ThroughlineError('config_invalid', message, { cause });
  }
}
