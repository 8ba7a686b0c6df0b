import type { Config } from '../config/config.js';
import { addressOf, type ServerInUse } from '../config/user-server.js';
import type { Logger } from '../engine/ports/logger-and-clock.js';
import type { NatsAddress } from '../nats/connection/nats-access.js';
import { storeUse } from '../nats/server/server-store.js';

export interface Cli {
  readonly config: Config;
  readonly logger: Logger;
  /** The server to use: `--nats`, else `NATS_URL`, else the joined team's, else the user's own. */
  readonly server: ServerInUse;
  /** Starts the user's server in the background; undefined where another is named, or that is switched off. */
  readonly autostart?: (() => Promise<unknown>) | undefined;
}

/**
 * Connects to the server, and starts that of the user in the background if it does not run and may be started.
 *
 * @throws ThroughlineError as connecting and `up` do
 */
export async function started<T>(
  { server, autostart }: Pick<Cli, 'server' | 'autostart'>,
  connect: (address: NatsAddress) => Promise<T>,
): Promise<T> {
  if (autostart !== undefined && !hasServices(server)) await autostart();
  return connect(addressOf(server));
}

/** Returns false for the user's own server if its `up` does not run: one that was left running alone has no services. */
export function hasServices(server: ServerInUse): boolean {
  return server.kind !== 'own' || storeUse(server.store)?.by === 'server';
}
