import type { Config } from '../config/config.js';
import type { Logger } from '../engine/ports/clients.js';

export interface Cli {
  readonly config: Config;
  readonly logger: Logger;
  /** The server to use: `--nats`, else `NATS_URL`, else that of `throughline up`, else the default one. */
  readonly url: string;
}
