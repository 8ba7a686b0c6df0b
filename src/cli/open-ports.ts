import { type Made, type NatsPorts, openNats } from '../nats/open.js';
import { natsOptions } from '../services/nats-options.js';
import type { Cli } from './context.js';

/** Connects with all ports, and makes the streams and buckets named. */
export function openPorts({ url, config, logger }: Cli, makes: readonly Made[]): Promise<NatsPorts> {
  return openNats({ ...natsOptions(url, 'throughline cli', config, logger), makes });
}
