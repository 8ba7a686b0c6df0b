import { silentLogger } from '../engine/ports/clients.js';
import { connectNats, type NatsConnection } from '../nats/connection/connect-nats.js';
import { type Made, type NatsPorts, openNats } from '../nats/open-nats.js';
import { natsOptions } from '../services/common/service-context.js';
import type { Cli } from './cli-context.js';

/**
 * Connects with all ports, and makes the streams and buckets named. What the connection reports is said once, by the request
 * that fails.
 */
export function openPorts({ url, config }: Cli, makes: readonly Made[]): Promise<NatsPorts> {
  return openNats({ ...natsOptions(url, 'throughline cli', config, silentLogger), makes });
}

export { closeConnection } from '../nats/connection/connect-nats.js';

/** Connects. What the connection reports is said once, by what fails. */
export function openConnection({ url, config: { access } }: Cli): Promise<NatsConnection> {
  return connectNats({ url, name: 'throughline cli', access, logger: silentLogger });
}
