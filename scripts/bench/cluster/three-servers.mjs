// Three servers that know each other, and what waits for them: a cluster takes a while to elect its leaders.
import { startNatsServer } from '../../../dist/nats/server/server-process.js';
import { freePort } from '../../free-port.mjs';
import { findServer, temporaryDir } from '../host.mjs';

const READY_WITHIN_MS = 60_000;
const LOOK_MS = 100;

/** `{ url, pids, replicas, leader }`: addresses of all three, and the server that leads a stream. */
export async function startCluster(shutdown) {
  const source = await findServer();
  const routes = await Promise.all([1, 2, 3].map(() => freePort()));
  const known = routes.map((port) => `"nats-route://127.0.0.1:${port}"`).join(', ');
  const servers = await Promise.all(
    routes.map(async (route, index) => {
      const name = `node-${index + 1}`;
      const storeDir = await temporaryDir(shutdown);
      const extraConfig = `cluster { name: bench, host: 127.0.0.1, port: ${route}, routes: [${known}] }`;
      const port = await freePort();
      const start = () => startNatsServer({ source, storeDir, port, serverName: name, extraConfig });
      let server = await start();
      shutdown.add(name, () => server.stop());
      return {
        name,
        url: server.url,
        pid: server.pid,
        kill: () => server.kill(),
        start: async () => {
          server = await start();
        },
      };
    }),
  );
  return {
    url: servers.map(({ url }) => url).join(','),
    pids: servers.map(({ pid }) => pid),
    replicas: 3,
    /** As soon as the stream has one. */
    leader: (jsm, stream) =>
      ready(async () => {
        const { cluster } = await jsm.streams.info(stream);
        const found = servers.find(({ name }) => name === cluster?.leader);
        if (found === undefined) throw new Error(`${stream} has no leader`);
        return found;
      }),
  };
}

/** What `work` gives as soon as it does. */
export async function ready(work) {
  for (const until = performance.now() + READY_WITHIN_MS; ; ) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await pause(LOOK_MS);
    }
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
