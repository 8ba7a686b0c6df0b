import { type Made, type NatsPorts, openNats } from '../nats/open-nats.js';
import { natsOptions } from '../services/common/nats-options.js';
import type { Cli } from './cli-context.js';

/** Connects with all ports, and makes the streams and buckets named. */
export function openPorts({ url, config, logger }: Cli, makes: readonly Made[]): Promise<NatsPorts> {
  return openNats({ ...natsOptions(url, 'throughline cli', config, logger), makes });
}
