import type { NatsConnection } from 'nats';
import { z } from 'zod';
import { ThroughlineError } from '../../contracts/errors.js';
import { onReconnect } from '../connection/connection-states.js';
import { toThroughlineError } from '../connection/nats-errors.js';

const timed = z.object({ ts: z.string() });

/**
 * The time of the server, in milliseconds since 1970, as it stands in what it says of a stream; `undefined` where it does
 * not say, as without that stream.
 *
 * @throws ThroughlineError `unavailable`, `permission_denied`
 */
export async function timeOfServer(
  connection: NatsConnection,
  stream: string,
  timeoutMs: number,
): Promise<number | undefined> {
  const reply = await connection
    .request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: timeoutMs })
    .catch((error: unknown) => {
      throw toThroughlineError(error, 'asking for the time of the server');
    });
  const { data } = timed.safeParse(reply.json());
  return data && Date.parse(data.ts);
}

/** The clocks of two machines drift apart by less than a millisecond in this time. */
const ASK_EVERY_MS = 60_000;

/**
 * The time of the server in a process whose machine may have another one. All processes see the same time, and
 * it is never ahead of the server's: what is due by it is due.
 *
 * It is asked for once a minute, and goes on by the process's own count of milliseconds in between, which nobody sets.
 */
export class ServerClock {
  readonly #ask: () => Promise<number>;
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: () => void;
  /** The server's time when the process had counted nothing. */
  #zero = 0;

  private constructor(connection: NatsConnection, ask: () => Promise<number>) {
    this.#ask = ask;
    // Until an answer comes, the last one holds.
    const again = () => void this.#set().catch(() => {});
    this.#timer = setInterval(again, ASK_EVERY_MS);
    this.#timer.unref();
    this.#unwatch = onReconnect(connection, again);
  }

  /**
   * @param stream one that there is
   * @throws ThroughlineError `unavailable`, `permission_denied`
   */
  static async open(connection: NatsConnection, stream: string, timeoutMs: number): Promise<ServerClock> {
    const clock = new ServerClock(connection, async () => {
      const time = await timeOfServer(connection, stream, timeoutMs);
      if (time !== undefined) return time;
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

  /** Milliseconds since 1970. */
  readonly now = (): number => Math.floor(this.#zero + performance.now());

  close(): void {
    clearInterval(this.#timer);
    this.#unwatch();
  }

  async #set(): Promise<void> {
    // The time of an answer that took long is behind, never ahead.
    const time = await this.#ask();
    this.#zero = time - performance.now();
  }
}
