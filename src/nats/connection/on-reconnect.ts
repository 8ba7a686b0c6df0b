import { Events, type NatsConnection } from 'nats';

/** Tells of each time that a lost connection is there again: what came in between was not heard. */
export function onReconnect(connection: NatsConnection, listener: () => void): () => void {
  return onEvent(connection, Events.Reconnect, listener);
}

/** Tells of each time that the connection is lost. */
export function onConnectionLost(connection: NatsConnection, listener: () => void): () => void {
  return onEvent(connection, Events.Disconnect, listener);
}

function onEvent(connection: NatsConnection, event: Events, listener: () => void): () => void {
  let isTold = true;
  const follow = async () => {
    for await (const { type } of connection.status()) {
      if (!isTold) return;
      if (type === event) listener();
    }
  };
  void follow();
  return () => {
    isTold = false;
  };
}
