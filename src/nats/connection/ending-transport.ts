import { createConnection, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/**
 * The client's transport, which also ends attempts that never became a connection.
 *
 * The client's own leaves the socket of an attempt open that was given up, because the server did not greet in time: one
 * for each attempt, until a server that stands still goes on, and the process lives as long.
 */
class EndingTransport extends NodeTransport {
  #dialled: Socket | undefined;

  override async dial({ port, hostname }: Address): Promise<Socket> {
    const socket = createConnection(port, hostname);
    this.#dialled = socket;
    socket.setNoDelay(true);
    let fault: Error | undefined;
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) => {
        fault = error;
      });
      socket.once('close', () => reject(fault));
    });
    socket.removeAllListeners();
    return socket;
  }

  override async tlsFirst(address: Address): Promise<TLSSocket> {
    // The handshake uses an existing socket: so this one is known as well.
    this.socket = await this.dial(address);
    return super.tlsFirst(address);
  }

  override async close(error?: Error): Promise<void> {
    await super.close(error);
    if (!this.connected) this.#dialled?.destroy();
  }
}

/**
 * Has the client make its next connections by this transport. Which one it takes is a setting of the whole process, and
 * each `connect` of the client sets it again: it must be called before each attempt.
 */
export function useEndingTransport(): void {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
}
