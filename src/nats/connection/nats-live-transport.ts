import { ThroughlineError } from '../../contracts/errors.js';
import type { LiveTransport } from '../../engine/ports/clients.js';
import { closeConnection, connectNats, type NatsConnectOptions } from './connect-nats.js';
import { onConnectionState } from './connection-states.js';
import { requestJson } from './nats-client-transport.js';
import { withoutSecrets } from './nats-errors.js';
import { type ResilientSubscription, subscribeResiliently } from './resilient-subscription.js';

/** Opens a transport with its own connection. Throws as `connectNats`. */
export async function openLiveTransport(options: NatsConnectOptions): Promise<LiveTransport> {
  const connection = await connectNats(options);
  const listeners = new Set<(connected: boolean) => void>();
  const subscriptions = new Set<ResilientSubscription>();
  let connected = true;
  /** Rejects each pending request. */
  const waiting = new Set<(fault: ThroughlineError) => void>();
  const server = withoutSecrets(options.url);
  const gone = () =>
    new ThroughlineError(
      'unavailable',
      `NATS cannot be reached at ${server}: it is tried again all the time`,
    );
  onConnectionState(connection, (isConnected) => {
    if (connected === isConnected) return;
    connected = isConnected;
    if (!connected) for (const refuse of waiting) refuse(gone());
    for (const listener of [...listeners]) listener(connected);
  });
  return {
    server,
    isConnected: () => connected,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async request(subject, body, timeoutMs) {
      if (!connected) throw gone();
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        requestJson(connection, subject, body, timeoutMs)
          .finally(() => waiting.delete(reject))
          .then(resolve, reject);
      });
    },
    listen(subjects, onMessage) {
      const subscription = subscribeResiliently(connection, subjects, ({ subject, data }) =>
        onMessage(subject, data),
      );
      subscriptions.add(subscription);
      return () => {
        subscriptions.delete(subscription);
        if (!connection.isClosed()) subscription.close();
      };
    },
    async close() {
      if (!connection.isClosed()) for (const subscription of subscriptions) subscription.close();
      await closeConnection(connection);
    },
  };
}
