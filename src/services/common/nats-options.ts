import type { Config } from '../../config/config.js';
import type { Logger } from '../../ports/logger.js';

/** How this configuration connects. */
export function natsOptions(url: string, name: string, config: Config, logger: Logger) {
  const { access, replicas, requestTimeoutMs, ackWaitMs, maxInHand, layout, shards } = config;
  const wanted = { layout, shards };
  return { url, name, access, logger, replicas, requestTimeoutMs, ackWaitMs, maxInHand, wanted };
}
