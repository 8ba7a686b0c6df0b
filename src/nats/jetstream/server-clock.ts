import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { onReconnect } from '../connection/connect-nats.js';
import { toThroughlineError } from '../connection/nats-errors.js';

const timed = z.object({ ts: z.string() });

/** Clocks drift by less than a millisecond in this time. */
const ASK_EVERY_MS = 60_000;

/**
 * The server's clock, equal for all processes and never ahead of the server. It is synchronised once a minute and advances by
 * the process' monotonic clock in between.
 */
export interface ServerClock {
  readonly now: () => number;
  close(): void;
}

/**
 * @param stream an existing one
 * @throws ThroughlineError `unavailable`, `permission_denied`
 */
export async function openServerClock(
  connection: NatsConnection,
  stream: string,
  timeoutMs: number,
): Promise<ServerClock> {
  /** Server time minus the process' monotonic time. */
  let zero = 0;
  const synchronise = async () => {
    const reply = await connection
      .request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: timeoutMs })
      .catch((error: unknown) => {
        throw toThroughlineError(error, 'asking for the time of the server');
      });
    const { data } = timed.safeParse(reply.json());
    if (data === undefined)
      throw new ThroughlineError('unavailable', `the server does not tell its time with stream ${stream}`);
    // A slow answer makes the clock late, never early.
    zero = Date.parse(data.ts) - performance.now();
  };
  await synchronise();
  // Until an answer arrives, the last one is used.
  const again = () => void synchronise().catch(() => {});
  const timer = setInterval(again, ASK_EVERY_MS).unref();
  const unwatch = onReconnect(connection, again);
  return {
    now: () => Math.floor(zero + performance.now()),
    close() {
      clearInterval(timer);
      unwatch();
    },
  };
}
