import { DebugEvents, Events, type NatsConnection } from 'nats';
import { beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectThroughline } from '../../../src/index.js';
import { closeConnection, connectNats } from '../../../src/nats/connection/connect-nats.js';
import { startFaultyServer } from '../../support/faults/server.js';
import { startListener } from '../../support/listener.js';
import { ofFile } from '../../support/of-file.js';
import { runNode } from '../../support/run-node.js';
import { soon } from '../../support/soon.js';

const server = await ofFile(startFaultyServer());
beforeEach(async () => {
  server.thaw();
  await soon(() => expect(sockets()).toBe(0));
});

const INDEX = new URL('../../../dist/index.js', import.meta.url).href;

/** Counts open or connecting sockets of this process. */
const sockets = () =>
  process.getActiveResourcesInfo().filter((kind) => /^(TCP|TCPSocket)Wrap$|^TCPConnectWrap$/.test(kind))
    .length;

function open(url: string, timeoutMs: number, tlsFirst = false): Promise<NatsConnection> {
  return connectNats({ url, name: 'frozen', logger: silentLogger, timeoutMs, access: { tlsFirst } });
}

/** Resolves after `count` reconnect attempts. */
async function attempts(connection: NatsConnection, count: number): Promise<void> {
  let made = 0;
  for await (const { type } of connection.status()) {
    if (type === DebugEvents.Reconnecting) made += 1;
    if (made > count) return;
  }
}

it('a frozen server ends a process that connects to it with an error and nothing left open', async () => {
  await server.freeze();
  const begun = performance.now();
  const { code, stdout } = await runNode(`
    import { connectThroughline } from ${JSON.stringify(INDEX)};
    const fault = await connectThroughline({ url: '${server.url}', timeoutMs: 500 }).catch((error) => error);
    console.log(fault.code);
    process.once('beforeExit', () => {
      console.log(process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap').join());
    });
  `);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'unavailable\n\n' });
  expect(performance.now() - begun).toBeLessThan(20_000);
});

it.each([false, true])(
  'a failed attempt to connect leaves no socket, with TLS first: %s',
  async (tlsFirst) => {
    // It reads, so that it sees the end of each connection, but never answers.
    await using silent = await startListener((socket) => socket.resume());
    for (let time = 0; time < 2; time += 1) {
      await expect(open(silent.url, 100, tlsFirst)).rejects.toMatchObject({ code: 'unavailable' });
    }
    // Sockets accepted in this same process close with the others.
    await soon(() => expect(sockets()).toBe(0));
  },
);

it('an attempt to reconnect leaves no socket, and connects when the server goes on', async () => {
  const connection = await open(server.url, 200);
  expect(sockets()).toBe(1);
  await server.freeze();
  const tried = attempts(connection, 8);
  await connection.reconnect();
  await tried;
  expect(sockets()).toBeLessThanOrEqual(1);
  const restored = (async () => {
    for await (const { type } of connection.status()) if (type === Events.Reconnect) return;
  })();
  server.thaw();
  await restored;
  await connection.flush();
  await connection.close();
  await soon(() => expect(sockets()).toBe(0));
});

it('an attempt to reconnect leaves no socket after other code in the process used the NATS client directly', async () => {
  const { connect } = await import('nats');
  const connection = await open(server.url, 200);
  const other = await connect({ servers: server.url });
  await server.freeze();
  const tried = attempts(connection, 5);
  await connection.reconnect();
  await tried;
  expect(sockets()).toBeLessThanOrEqual(2);
  server.thaw();
  await Promise.all([connection.close(), other.close()]);
});

it('a connection closes within its time while the server stands still', async () => {
  const client = await connectThroughline({ url: server.url });
  const connection = await open(server.url, 200);
  await server.freeze();
  await connection.reconnect();
  const begun = performance.now();
  await Promise.all([client.close(), closeConnection(connection)]);
  expect(performance.now() - begun).toBeLessThan(7000);
  await soon(() => expect(sockets()).toBe(0));
});
