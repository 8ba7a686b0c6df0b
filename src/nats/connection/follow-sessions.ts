import type { NatsConnection } from 'nats';
import { PUBLISHED_EVENTS, publishedEvent, type Token } from '../../contracts/names.js';
import { onDenied as listenForDenials } from './denials.js';
import { keepSubscribed } from './kept-subscription.js';

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
