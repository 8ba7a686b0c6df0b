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
