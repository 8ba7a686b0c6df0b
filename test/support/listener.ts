import { connect, createServer, type Socket } from 'node:net';
import { urlOnPort } from './nats-server.js';

/** Something that listens as a server does, and what it says to each that comes. */
export async function startListener(greet: (socket: Socket) => void, port = 0) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    greet(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    url: `nats://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A way to a server that can be cut; what that one says arrives later by so many milliseconds. */
export async function wayTo(url: string, options: { readonly port?: number; readonly lateMs?: number } = {}) {
  const forward = (socket: Socket) => {
    const behind = connect(Number(new URL(url).port), '127.0.0.1');
    behind.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => behind.destroy());
    socket.pipe(behind);
    behind.on('data', (bytes) => setTimeout(() => socket.write(bytes), options.lateMs ?? 0));
  };
  let way = await startListener(forward, options.port);
  const cut = () => way[Symbol.asyncDispose]();
  return {
    url: urlOnPort(url, way.port),
    cut,
    async mend() {
      way = await startListener(forward, way.port);
    },
    [Symbol.asyncDispose]: cut,
  };
}
