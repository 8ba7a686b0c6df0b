import { keepTrying, type Persistence } from '../client/keep-trying.js';
import { ThroughlineClient } from '../client/throughline-client.js';
import { connectNats } from '../nats/connection/connect-nats.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import { silentLogger } from '../ports/logger.js';
import type { Cli } from './cli-context.js';

/** Connects as a client of the services. What the connection reports is said once, by the request that fails. */
export async function openClient(
  { url, config }: Pick<Cli, 'url' | 'config'>,
  tries?: Persistence,
): Promise<ThroughlineClient> {
  const { access, requestTimeoutMs, afterTimeoutMs } = config;
  const connecting = (timeoutMs?: number) =>
    connectNats({
      url,
      name: 'throughline cli',
      access,
      logger: silentLogger,
      ...(timeoutMs && { timeoutMs }),
    });
  const connection = await (tries === undefined ? connecting() : keepTrying(connecting, tries));
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  // A command shows what it is told, and starts faster without schemas.
  return new ThroughlineClient(natsTransport(connection, requestTimeoutMs), {
    timeoutMs,
    checkReplies: false,
  });
}
