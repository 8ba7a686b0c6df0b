import { spoolOf } from '../agents/hooks/spool.js';
import { type Config, stateDirOf } from '../config/config.js';
import { addressOf, installationKey, type ServerInUse } from '../config/user-server.js';
import { silentLogger } from '../engine/ports/logger-and-clock.js';
import { connectNats, type NatsConnection, onConnectionState } from '../nats/connection/connect-nats.js';
import { hangs } from '../nats/connection/ending-transport.js';
import { accountOf } from '../nats/connection/nats-access.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { serverOnStore, storeUse } from '../nats/server/server-store.js';
import { keepTrying, type Persistence } from '../sdk/keep-trying.js';
import { ThroughlineClient } from '../sdk/throughline-client.js';
import { withinDeadline } from '../shared/deadlines.js';
import type { Cli } from './cli-command.js';

export { closeConnection } from '../nats/connection/connect-nats.js';

const NAME = 'throughline cli';

type Opening = Pick<Cli, 'server' | 'config' | 'autostart'>;

/** Connects as a client of the services. @param tries how often to try; default: once */
export async function openClient(cli: Opening, tries?: Persistence): Promise<ThroughlineClient> {
  return clientOn(await openConnection(cli, tries), cli.config);
}

function clientOn(connection: NatsConnection, config: Config): ThroughlineClient {
  const { requestTimeoutMs, afterTimeoutMs } = config;
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  return new ThroughlineClient(natsTransport(connection, requestTimeoutMs), { timeoutMs });
}

const ALIVE_MS = 700;

export type WatchedClient = Awaited<ReturnType<typeof openWatchedClient>>;

/** Connects for a process that may outlive the server: when it goes, requests fail at once instead of waiting for it. */
export async function openWatchedClient(cli: Cli) {
  const connection = await openConnection(cli);
  onConnectionState(connection, (isConnected) => {
    if (!isConnected) void connection.close();
  });
  const { server } = cli;
  /**
   * False if the server or its services have gone, or a named one does not answer a ping.
   *
   * @throws ThroughlineError `unavailable` if the user's own server runs and does not answer
   */
  const isAlive = async () => {
    if (connection.isClosed() || (cli.autostart !== undefined && !hasServices(server))) return false;
    const ping = connection.flush().then(
      () => true,
      () => false,
    );
    if ((await withinDeadline(ALIVE_MS, ping)) === true) return true;
    const running = server.kind === 'own' ? serverOnStore(server.store) : undefined;
    if (running !== undefined && !connection.isClosed()) throw hangs(running.pid);
    return false;
  };
  return { client: clientOn(connection, cli.config), isAlive };
}

/**
 * Connects to the server, and starts that of the user in the background if it does not run and may be started. What the
 * connection reports is said once, by what fails.
 *
 * @throws ThroughlineError as connecting and `up` do
 */
export async function openConnection(
  { server, autostart, config }: Opening,
  tries?: Persistence,
): Promise<NatsConnection> {
  if (autostart !== undefined && !hasServices(server)) await autostart();
  const options = { url: addressOf(server), name: NAME, access: config.access, logger: silentLogger };
  const connecting = (timeoutMs?: number) => connectNats({ ...options, ...(timeoutMs && { timeoutMs }) });
  const connection = await (tries === undefined ? connecting() : keepTrying(connecting, tries));
  const { server_name: name = '' } = connection.info ?? {};
  try {
    const access = server.kind === 'team' ? server.access : config.access;
    const identity = OF_STORE.test(name) ? name : accountOf(access);
    if (server.kind !== 'own' && identity !== undefined)
      spoolOf(stateDirOf(config.env), installationKey(server)).takeOverFor(identity);
  } catch {
    // A full disk does not keep a client from its server: what waits stays under the address.
  }
  return connection;
}

/** The name of a server that "throughline up" has started: its id cannot be guessed, so no other server has it. */
const OF_STORE = /^throughline-[\da-f]{16}$/;

/** Returns false for the user's own server if its `up` does not run: one that was left running alone has no services. */
function hasServices(server: ServerInUse): boolean {
  return server.kind !== 'own' || storeUse(server.store)?.by === 'server';
}
