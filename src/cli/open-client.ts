import { ThroughlineClient } from '../client/throughline-client.js';
import { connectNats } from '../nats/connection/connect-nats.js';
import { natsTransport } from '../nats/connection/nats-client-transport.js';
import type { Cli } from './cli-context.js';

/** Connects as a client of the services. */
export async function openClient({ url, config, logger }: Cli): Promise<ThroughlineClient> {
  const { access, requestTimeoutMs, afterTimeoutMs } = config;
  const connection = await connectNats({ url, name: 'throughline cli', access, logger });
  // A request with `after` is answered only when the wait is over.
  const timeoutMs = requestTimeoutMs + afterTimeoutMs;
  return new ThroughlineClient(natsTransport(connection, requestTimeoutMs), { timeoutMs });
}
