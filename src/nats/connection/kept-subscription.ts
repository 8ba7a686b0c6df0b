import type { Msg, NatsConnection, Subscription } from 'nats';
import { PUBLISHED_EVENTS, publishedEvent, type Token } from '../../contracts/names.js';
import { Backoff } from '../../engine/runtime/pauses.js';
import { onDenied as listenForDenials } from './connect-nats.js';

const FIRST_PAUSE_MS = 250;

/** A subscription that lasts until it is closed. */
export interface KeptSubscription {
  /** Resolves when all earlier messages have been handed on; then it is closed. */
  drain(): Promise<void>;
  close(): void;
}

/**
 * Subscribes, and again whenever the server takes the subscription away: users that are changed while we are connected
 * may be changed back, and the client forgets what was denied.
 *
 * @throws the client's error when the connection is closed
 */
export function keepSubscribed(
  connection: NatsConnection,
  subject: string,
  onMessage: (message: Msg) => void,
): KeptSubscription {
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

/** Tells which session each published event belongs to. */
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
  const subscription = keepSubscribed(connection, events, ({ subject }) => {
    const event = publishedEvent(subject);
    if (event !== undefined) onMoved(event.session);
  });
  return () => {
    listening();
    if (!connection.isClosed()) subscription.close();
  };
}
