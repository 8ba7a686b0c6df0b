import type { AddressInfo } from 'node:net';
import type { ServerType } from '@hono/node-server';
import { messageOf, systemCode, ThroughlineError } from '../../contracts/errors.js';
import { DEFAULT_PORT } from './inspector-port.js';

/** So many ports are tried from the default one on, and then any free one. */
const TRIES = 20;

/**
 * Has the server listen. Without a port it takes the default one, or the next one that is free.
 *
 * @throws ThroughlineError `config_invalid` when nothing can listen on the port, or on the host
 */
export async function listening(server: ServerType, host: string, port?: number): Promise<number> {
  if (port !== undefined) return listenOn(server, host, port);
  for (let next = DEFAULT_PORT; next < DEFAULT_PORT + TRIES; next += 1) {
    try {
      return await listenOn(server, host, next);
    } catch (fault) {
      const { cause } = fault as ThroughlineError;
      if (systemCode(cause) !== 'EADDRINUSE') throw fault;
    }
  }
  return listenOn(server, host, 0);
}

async function listenOn(server: ServerType, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: Error) => reject(notListening(host, port, cause));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function notListening(host: string, port: number, cause: Error): ThroughlineError {
  const why =
    systemCode(cause) === 'EADDRINUSE'
      ? 'another process uses that port: choose another one with --inspector-port'
      : messageOf(cause);
  return new ThroughlineError(
    'config_invalid',
    `the inspector cannot listen on ${host}, port ${port}: ${why}`,
    {
      cause,
    },
  );
}
