import { portProblem } from '../../../src/nats/server/server-process.js';
import { type FaultyServer, startFaultyServer } from './server.js';

/** Below the ports that the system hands out: it is taken only when its server has looked for others there. */
async function portOfRoutes(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if ((await portProblem(port)) === undefined) return port;
  }
}

/** Three servers that know each other, each by a name, and the address of all of them. */
export async function startCluster(): Promise<
  { servers: Map<string, FaultyServer>; url: string } & AsyncDisposable
> {
  const ports = await Promise.all([1, 2, 3].map(portOfRoutes));
  const routes = ports.map((port) => `"nats-route://127.0.0.1:${port}"`).join(', ');
  const starts = await Promise.allSettled(
    ports.map(async (port, index) => {
      const serverName = `node-${index + 1}`;
      const extraConfig = `cluster { name: faults, host: 127.0.0.1, port: ${port}, routes: [${routes}] }`;
      return [serverName, await startFaultyServer({ serverName, extraConfig })] as const;
    }),
  );
  const started = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = starts.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(started.map(([, server]) => server.stop()));
    throw failed.reason;
  }
  const servers = new Map(started);
  return {
    servers,
    url: [...servers.values()].map((server) => server.url).join(','),
    async [Symbol.asyncDispose]() {
      await Promise.all([...servers.values()].map((server) => server.stop()));
    },
  };
}
