import { Events, type NatsConnection } from 'nats';

type Listener<Said> = (state: Said) => void;

/** Returns a function that adds a listener to a connection and returns its removal. `tell` runs once per connection. */
export function listenersOf<Said>(
  tell: (connection: NatsConnection, toAll: Listener<Said>) => Promise<void>,
): (connection: NatsConnection, listener: Listener<Said>) => () => void {
  const listeners = new WeakMap<NatsConnection, Set<Listener<Said>>>();
  return (connection, listener) => {
    const all = listeners.get(connection) ?? new Set();
    if (!listeners.has(connection)) {
      listeners.set(connection, all);
      void tell(connection, (state) => {
        for (const notify of [...all]) notify(state);
      });
    }
    all.add(listener);
    return () => all.delete(listener);
  };
}

/** Calls `listener` when the connection is lost, closed or restored, until the returned function is called. */
export const onConnectionState = listenersOf<boolean>(async (connection, toAll) => {
  void connection.closed().then(() => toAll(false));
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect || type === Events.Reconnect) toAll(type === Events.Reconnect);
  }
});

/** The connection's part of a service's health. */
export interface ConnectionHealth {
  readonly connected: boolean;
  readonly server: string;
  /** Number of lost connections since the start. */
  readonly disconnects: number;
}

export function watchConnection(connection: NatsConnection): () => ConnectionHealth {
  let [connected, disconnects] = [true, 0];
  onConnectionState(connection, (isConnected) => {
    if (connected && !isConnected && !connection.isClosed()) disconnects += 1;
    connected = isConnected;
  });
  return () => ({ connected, server: connection.getServer(), disconnects });
}

/** Calls `listener` after each reconnect: messages in between were missed. */
export function onReconnect(connection: NatsConnection, listener: () => void): () => void {
  return onConnectionState(connection, (isConnected) => {
    if (isConnected) listener();
  });
}
