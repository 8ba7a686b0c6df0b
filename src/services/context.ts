import type { Config } from '../config.js';
import type { Releasers } from '../lifecycle.js';
import type { Logger } from '../ports/logger.js';

/** What every service is started with; `releasers` stops it again. */
export interface Context {
  readonly config: Config;
  readonly logger: Logger;
  readonly releasers: Releasers;
}
