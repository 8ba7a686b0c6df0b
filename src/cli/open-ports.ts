import { silentLogger } from '../engine/ports/clients.js';
import { connectNats, type NatsConnection } from '../nats/connection/connect-nats.js';
import { type NatsPorts, openNats } from '../nats/open-nats.js';
import { natsOptions } from '../services/common/service-context.js';
import { type Cli, started } from './cli-context.js';

/** Connects with all ports. What the connection reports is said once, by the request that fails. */
export function openPorts(cli: Cli): Promise<NatsPorts> {
  return started(cli, (url) =>
    openNats({ ...natsOptions(url, 'throughline cli', cli.config, silentLogger), makes: [] }),
  );
}

export { closeConnection } from '../nats/connection/connect-nats.js';

/** Connects. What the connection reports is said once, by what fails. */
export function openConnection(cli: Cli): Promise<NatsConnection> {
  const { access } = cli.config;
  return started(cli, (url) => connectNats({ url, name: 'throughline cli', access, logger: silentLogger }));
}
