import { Events, type NatsConnection } from 'nats';

type Listener = (connected: boolean) => void;

const listeners = new WeakMap<NatsConnection, Set<Listener>>();

/** Calls `listener` each time that the connection is lost, closed or restored, until the returned function is called. */
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

/** The health of a connection, for the health of a service. */
export interface ConnectionHealth {
  readonly connected: boolean;
  /** Address of the server, as the client knows it. */
  readonly server: string;
  /** How often the connection was lost since the start. */
  readonly disconnects: number;
}

/** Watches a connection until it is closed. */
export function watchConnection(connection: NatsConnection): () => ConnectionHealth {
  let connected = true;
  let disconnects = 0;
  const follow = async () => {
    for await (const { type } of connection.status()) {
      if (type === Events.Disconnect) disconnects += 1;
      if (type === Events.Disconnect || type === Events.Reconnect) connected = type === Events.Reconnect;
    }
    connected = false;
  };
  void follow();
  return () => ({ connected, server: connection.getServer(), disconnects });
}

/** Tells of each time that a lost connection is there again: what came in between was not heard. */
export function onReconnect(connection: NatsConnection, listener: () => void): () => void {
  let isTold = true;
  const follow = async () => {
    for await (const { type } of connection.status()) {
      if (!isTold) return;
      if (type === Events.Reconnect) listener();
    }
  };
  void follow();
  return () => {
    isTold = false;
  };
}
