import { type Made, type NatsPorts, openNats } from '../nats/open-nats.js';
import { silentLogger } from '../ports/logger.js';
import { natsOptions } from '../services/common/nats-options.js';
import type { Cli } from './cli-context.js';

/**
 * Connects with all ports, and makes the streams and buckets named. What the connection reports is said once, by the request
 * that fails.
 */
export function openPorts({ url, config }: Cli, makes: readonly Made[]): Promise<NatsPorts> {
  return openNats({ ...natsOptions(url, 'throughline cli', config, silentLogger), makes });
}
