import { Events, type NatsConnection } from 'nats';

type Listener = (connected: boolean) => void;

const listeners = new WeakMap<NatsConnection, Set<Listener>>();

/** Calls `listener` when the connection is lost, closed or restored, until the returned function is called. */
export function onConnectionState(connection: NatsConnection, listener: Listener): () => void {
  let all = listeners.get(connection);
  if (all === undefined) {
    all = new Set();
    listeners.set(connection, all);
    void tell(connection, all);
  }
  all.add(listener);
  return () => all.delete(listener);
}

async function tell(connection: NatsConnection, all: ReadonlySet<Listener>): Promise<void> {
  const toAll = (connected: boolean) => {
    for (const listener of [...all]) listener(connected);
  };
  void connection.closed().then(() => toAll(false));
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect || type === Events.Reconnect) toAll(type === Events.Reconnect);
  }
}

/** The connection's part of a service's health. */
export interface ConnectionHealth {
  readonly connected: boolean;
  /** Address of the server. */
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
