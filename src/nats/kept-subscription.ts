import type { Msg, NatsConnection, Subscription } from 'nats';
import { pause } from './pause.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** A subscription that lasts until it is closed. */
export interface KeptSubscription {
  /** Resolves when what the server had sent before has been handed on; then it is closed. */
  drain(): Promise<void>;
  close(): void;
}

/**
 * Subscribes, and again whenever the server takes the subscription away: whoever changes users while we are connected
 * may come to change them back, and the client forgets what was denied.
 *
 * @throws the client's error when the connection is closed
 */
export function keepSubscribed(
  connection: NatsConnection,
  subject: string,
  onMessage: (message: Msg) => void,
): KeptSubscription {
  const closing = new AbortController();
  let pauseMs = FIRST_PAUSE_MS;
  const subscribe = (): Subscription =>
    connection.subscribe(subject, {
      callback(error, message) {
        if (error) void again();
        else {
          pauseMs = FIRST_PAUSE_MS;
          onMessage(message);
        }
      },
    });
  const again = async () => {
    await pause(pauseMs, closing.signal);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    if (!closing.signal.aborted && !connection.isDraining() && !connection.isClosed())
      subscription = subscribe();
  };
  let subscription = subscribe();
  return {
    async drain() {
      closing.abort();
      if (!subscription.isClosed()) await subscription.drain();
    },
    close() {
      closing.abort();
      subscription.unsubscribe();
    },
  };
}
