import { type ConnectionOptions, connect, type NatsConnection } from 'nats';
import { ThroughlineError } from '../errors.js';
import type { Logger } from '../ports/logger.js';
import { requireSupportedServer } from '../server/version.js';

export interface ConnectOptions {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
  /** Shown by `nats server report connections`. */
  readonly name: string;
  readonly logger: Logger;
  /** How long to try at first, in milliseconds. */
  readonly timeoutMs?: number;
  readonly inboxPrefix?: string;
}

/**
 * Connects, reconnecting for ever after, and checks that the server can do what we need.
 *
 * @throws ThroughlineError `unavailable` when nobody answers, `server_unsupported` for an old server or one without
 * JetStream
 */
export async function connectNats(options: ConnectOptions): Promise<NatsConnection> {
  const settings: ConnectionOptions = {
    servers: options.url.split(',').map((server) => server.trim()),
    name: options.name,
    timeout: options.timeoutMs ?? 5000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 20_000,
    ...(options.inboxPrefix !== undefined && { inboxPrefix: options.inboxPrefix }),
  };
  const connection = await connect(settings).catch((cause: unknown) => {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new ThroughlineError(
      'unavailable',
      `no NATS server answers at ${withoutSecrets(options.url)} (${text}): start one with "throughline up", or set NATS_URL`,
      { cause },
    );
  });
  try {
    checkServer(connection, withoutSecrets(options.url));
  } catch (error) {
    await connection.close();
    throw error;
  }
  void logStatus(connection, options.logger);
  return connection;
}

/**
 * Sends what is still to be sent, then closes. The client's own drain resolves without closing when the server is lost
 * meanwhile: the connection would go on reconnecting, and keep the process alive, for ever.
 */
export async function closeConnection(connection: NatsConnection): Promise<void> {
  await connection.drain().catch(() => {});
  await connection.close();
}

function checkServer(connection: NatsConnection, url: string): void {
  const info = connection.info;
  requireSupportedServer(info?.version ?? 'unknown', url);
  if (info?.jetstream !== true) {
    throw new ThroughlineError(
      'server_unsupported',
      `the NATS server at ${url} runs without JetStream: start it with -js and a store directory`,
    );
  }
}

async function logStatus(connection: NatsConnection, logger: Logger): Promise<void> {
  for await (const { type, data } of connection.status()) {
    if (type === 'disconnect') logger.warn({ server: data }, 'NATS connection lost, reconnecting');
    else if (type === 'reconnect') logger.info({ server: data }, 'NATS connection restored');
    else if (type === 'error') logger.warn({ error: data }, 'NATS reported an error');
  }
}

/** A URL as it may be shown: user, password and token replaced. */
export function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^/@,]*@/g, '//***@');
}
