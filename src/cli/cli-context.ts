import { type Config, stateDirOf } from '../config/config.js';
import { usualUrl } from '../config/user-server.js';
import { codeOf } from '../contracts/errors.js';
import type { Logger } from '../engine/ports/clients.js';

export interface Cli {
  readonly config: Config;
  readonly logger: Logger;
  /** The server to use: `--nats`, else `NATS_URL`, else that of `throughline up`, else the default one. */
  readonly url: string;
  /** Starts the user's server in the background; undefined where another is named, or that is switched off. */
  readonly autostart?: (() => Promise<unknown>) | undefined;
}

/**
 * Connects to the server, and starts that of the user in the background if it does not run and may be started.
 *
 * @throws ThroughlineError as connecting and `up` do
 */
export async function started<T>(
  { url, config, autostart }: Pick<Cli, 'url' | 'config' | 'autostart'>,
  connect: (url: string) => Promise<T>,
): Promise<T> {
  try {
    return await connect(url);
  } catch (error) {
    if (autostart === undefined || codeOf(error) !== 'unavailable') throw error;
    await autostart();
    return connect(usualUrl(stateDirOf(config.env), config.access));
  }
}
