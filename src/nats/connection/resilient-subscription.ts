import type { Msg, NatsConnection, Subscription } from 'nats';
import { PUBLISHED_EVENTS, publishedEvent, type Token } from '../../contracts/names.js';
import { Backoff } from '../../engine/runtime/batched.js';
import { onDenied as listenForDenials } from './connect-nats.js';

const FIRST_PAUSE_MS = 250;

export interface ResilientSubscription {
  /** Closes after delivering all earlier messages. */
  drain(): Promise<void>;
  close(): void;
}

/**
 * Subscribes, and resubscribes with backoff whenever the server denies the subscription: permissions may be changed and
 * restored while we are connected, and the client forgets denied subscriptions.
 *
 * @throws the client's error if the connection is closed
 */
export function subscribeResiliently(
  connection: NatsConnection,
  subject: string,
  onMessage: (message: Msg) => void,
): ResilientSubscription {
  const closing = new AbortController();
  const backoff = new Backoff(FIRST_PAUSE_MS);
  const subscribe = (): Subscription =>
    connection.subscribe(subject, {
      callback(error, message) {
        if (error) void again();
        else {
          backoff.reset();
          onMessage(message);
        }
      },
    });
  const again = async () => {
    await backoff.pause(closing.signal);
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

/** Calls `onMoved` with the session of each published event. */
export function followSessions(
  connection: NatsConnection,
  layout: keyof typeof PUBLISHED_EVENTS,
  onMoved: (session: Token) => void,
  onDenied: () => void = () => {},
): () => void {
  const events = PUBLISHED_EVENTS[layout];
  const listening = listenForDenials(connection, ({ subject }) => {
    if (subject === events) onDenied();
  });
  const subscription = subscribeResiliently(connection, events, ({ subject }) => {
    const event = publishedEvent(subject);
    if (event !== undefined) onMoved(event.session);
  });
  return () => {
    listening();
    if (!connection.isClosed()) subscription.close();
  };
}
