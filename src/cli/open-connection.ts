import { connectNats, type NatsConnection } from '../nats/connection/connect-nats.js';
import { silentLogger } from '../ports/logger.js';
import type { Cli } from './cli-context.js';

export { closeConnection } from '../nats/connection/connect-nats.js';

/** Connects. What the connection reports is said once, by what fails. */
export function openConnection({ url, config: { access } }: Cli): Promise<NatsConnection> {
  return connectNats({ url, name: 'throughline cli', access, logger: silentLogger });
}
