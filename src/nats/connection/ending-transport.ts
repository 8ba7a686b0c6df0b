import { createConnection, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';

interface Address {
  readonly hostname: string;
  readonly port: number;
}

/**
 * The client's transport, which also closes the sockets of failed attempts. The original leaks the socket of an attempt that
 * timed out waiting for the server's greeting, and a frozen server thereby keeps the process alive.
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
    // Dial here, so that the socket of the handshake is known.
    this.socket = await this.dial(address);
    return super.tlsFirst(address);
  }

  override async close(error?: Error): Promise<void> {
    await super.close(error);
    if (!this.connected) this.#dialled?.destroy();
  }
}

/**
 * Makes the client use this transport. The factory is a process-wide setting that each `connect` of the client resets, so this
 * must be called before each attempt.
 */
export function useEndingTransport(): void {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
}
