import { createServer } from 'node:net';

/**
 * A TCP port that nothing listens on at this moment. Another process may take it before its user does: retry
 * then.
 */
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

/**
 * Why nothing can listen on `host:port`, as the system's code (`EADDRINUSE`, `EACCES`, …); undefined when it
 * is free.
 */
export function portProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
