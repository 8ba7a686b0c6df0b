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
export class ServerClock {
  readonly #ask: () => Promise<number>;
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: () => void;
  /** Server time minus the process' monotonic time. */
  #zero = 0;

  private constructor(connection: NatsConnection, ask: () => Promise<number>) {
    this.#ask = ask;
    // Until an answer arrives, the last one is used.
    const again = () => void this.#set().catch(() => {});
    this.#timer = setInterval(again, ASK_EVERY_MS);
    this.#timer.unref();
    this.#unwatch = onReconnect(connection, again);
  }

  /**
   * @param stream an existing one
   * @throws ThroughlineError `unavailable`, `permission_denied`
   */
  static async open(connection: NatsConnection, stream: string, timeoutMs: number): Promise<ServerClock> {
    const clock = new ServerClock(connection, async () => {
      const reply = await connection
        .request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: timeoutMs })
        .catch((error: unknown) => {
          throw toThroughlineError(error, 'asking for the time of the server');
        });
      const { data } = timed.safeParse(reply.json());
      if (data !== undefined) return Date.parse(data.ts);
      throw new ThroughlineError('unavailable', `the server does not tell its time with stream ${stream}`);
    });
    try {
      await clock.#set();
      return clock;
    } catch (error) {
      clock.close();
      throw error;
    }
  }

  readonly now = (): number => Math.floor(this.#zero + performance.now());

  close(): void {
    clearInterval(this.#timer);
    this.#unwatch();
  }

  async #set(): Promise<void> {
    // A slow answer makes the clock late, never early.
    const time = await this.#ask();
    this.#zero = time - performance.now();
  }
}
