import { Events, type NatsConnection } from 'nats';

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
