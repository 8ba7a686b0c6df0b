import { Events, type NatsConnection } from 'nats';

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
