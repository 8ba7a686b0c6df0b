import type { NatsConnection, Service } from 'nats';
import type { Logger } from '../../ports/logger.js';
import { Backoff } from '../../runtime/pauses.js';
import { toThroughlineError } from '../connection/nats-errors.js';

const FIRST_PAUSE_MS = 250;

export interface KeptServiceOptions {
  readonly connection: NatsConnection;
  readonly name: string;
  readonly logger: Logger;
  /** Starts the service; it answers when this resolves. */
  readonly start: () => Promise<Service>;
}

/**
 * Starts a service, and again, with growing pauses, whenever the client has stopped it: it does so for good, and with
 * all endpoints, as soon as the server takes away one subscription, as it may when its users change.
 *
 * @returns what stops it
 * @throws what the first start throws
 */
export async function keepService(options: KeptServiceOptions): Promise<() => Promise<void>> {
  const { connection, name, logger, start } = options;
  const closing = new AbortController();
  let service = await start();

  async function restarted(): Promise<Service | undefined> {
    for (const backoff = new Backoff(FIRST_PAUSE_MS); ; ) {
      await backoff.pause(closing.signal);
      if (closing.signal.aborted || connection.isClosed()) return undefined;
      try {
        const again = await start();
        if (!closing.signal.aborted) return again;
        await again.stop();
      } catch (error) {
        const { code } = toThroughlineError(error, name);
        logger.warn({ service: name, code, err: error }, 'the service cannot be started again yet');
      }
    }
  }

  async function keep(): Promise<void> {
    for (;;) {
      const why = await service.stopped;
      if (closing.signal.aborted || connection.isClosed()) return;
      const code = why === null ? 'unavailable' : toThroughlineError(why, name).code;
      logger.error(
        { service: name, code, err: why },
        'the service may not listen any more: it is started again',
      );
      const again = await restarted();
      if (again === undefined) return;
      service = again;
      logger.info({ service: name }, 'the service listens again');
    }
  }

  const kept = keep();
  return async () => {
    closing.abort();
    await service.stop();
    await kept;
  };
}
