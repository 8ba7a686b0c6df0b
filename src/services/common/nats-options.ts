import type { Config } from '../../config/config.js';
import type { Logger } from '../../ports/logger.js';
import type { Tracing } from '../../ports/tracing.js';

/** How this configuration connects. */
export function natsOptions(url: string, name: string, config: Config, logger: Logger, tracing?: Tracing) {
  const { access, replicas, requestTimeoutMs, ackWaitMs, maxInHand } = config;
  return {
    url,
    name,
    access,
    logger,
    replicas,
    requestTimeoutMs,
    ackWaitMs,
    maxInHand,
    ...(tracing && { tracing }),
  };
}
