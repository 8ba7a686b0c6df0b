import { createServer } from 'node:net';

/** Returns a free TCP port. Another process may take it before it is used: retry then. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error(`no TCP address on ${host}`));
      });
    });
  });
}
