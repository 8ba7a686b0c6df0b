import { rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { connectNats } from '../../../src/nats/connection/connect-nats.js';
import type { NatsAddress } from '../../../src/nats/connection/nats-access.js';
import { openNats } from '../../../src/nats/open-nats.js';
import { identityOf } from '../../../src/nats/server/process-identity.js';
import { serverNameOf } from '../../../src/nats/server/server-store.js';
import { startListener } from '../../support/listener.js';
import { startPrivateNats, startTestNats } from '../../support/nats-server.js';
import { NOBODY } from '../../support/nobody.js';
import { folderOfTest } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';

const connect = (url: NatsAddress, logger = silentLogger) =>
  connectNats({ url, name: 'throughline test', logger, timeoutMs: 2000 });

describe('connectNats', () => {
  it('what is published together leaves in one write', async () => {
    await using nats = await startTestNats();
    const connection = await connect(nats.url);
    const write = vi.spyOn(Socket.prototype, 'write');
    try {
      for (let each = 0; each < 100; each += 1) connection.publish('unheard', Buffer.alloc(1000));
      await connection.flush();
      const sizes = write.mock.calls.map(([data]) => data.length);
      expect(sizes.filter((size) => size > 1000)).toEqual([expect.closeTo(102_200, -4)]);
    } finally {
      write.mockRestore();
      await connection.close();
    }
  });

  it('connecting reports the address when no server answers', async () => {
    const url = `nats://${NOBODY}`;
    await expect(connect(url)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(url),
    });
  });

  it('connecting refuses an old server with both versions', async () => {
    await using old = await startListener((socket) => {
      socket.write('INFO {"server_id":"X","version":"2.9.21","jetstream":true,"max_payload":1024}\r\n');
      socket.on('data', (data) => String(data).includes('PING') && socket.write('PONG\r\n'));
    });
    await expect(connect(old.url)).rejects.toMatchObject({
      code: 'server_unsupported',
      message: expect.stringMatching(/2\.9\.21.*2\.12/),
    });
  });

  it('connecting refuses a server without JetStream', async () => {
    await using plain = await startListener((socket) => {
      socket.write('INFO {"server_id":"X","version":"2.99.0","max_payload":1024}\r\n');
      socket.on('data', (data) => String(data).includes('PING') && socket.write('PONG\r\n'));
    });
    await expect(connect(plain.url)).rejects.toMatchObject({
      code: 'server_unsupported',
      message: expect.stringContaining('JetStream'),
    });
  });

  it('nothing is sent to a server that has ended before its port greets', async () => {
    const store = await folderOfTest();
    const pidFile = join(store, 'throughline-server.pid');
    let received = '';
    await using other = await startListener((socket) => {
      socket.on('data', (bytes) => {
        received += bytes;
      });
      rmSync(pidFile);
      socket.write(
        `INFO ${JSON.stringify({ server_name: serverNameOf(store), version: '2.15.0', jetstream: true })}\r\n`,
      );
    });
    const ours = identityOf(process.pid);
    writeFileSync(pidFile, JSON.stringify({ starter: ours, server: ours, url: other.url }));
    await expect(connect({ store })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not run'),
    });
    expect(received).toBe('');
  });

  it('connecting says that a server wants a certificate, also when it is slow to greet', async () => {
    const greeting = { server_id: 'X', version: '2.99.0', tls_required: true, tls_verify: true };
    await using strict = await startListener((socket) => {
      setTimeout(() => socket.write(`INFO ${JSON.stringify(greeting)}\r\n`), 500);
      // The handshake, which it ends without a word.
      socket.once('data', () => socket.end());
    });
    await expect(connect(strict.url)).rejects.toMatchObject({ code: 'tls_failed' });
  });

  it.each([
    ['or hangs: it sends no greeting', () => {}],
    ['it speaks another protocol', (socket: Socket) => void socket.write('220 mail.example ESMTP\r\n')],
  ])(
    'connecting to something else says within about a second that it is not a NATS server, %s',
    async (what, greet) => {
      await using other = await startListener(greet);
      const begin = performance.now();
      await expect(connect(other.url)).rejects.toMatchObject({
        code: 'unavailable',
        message: `${other.url.replace('nats://', '')} is not a NATS server, ${what}: set NATS_URL or --nats to the address of one`,
      });
      expect(performance.now() - begin).toBeLessThan(3000);
      // Who joined a team has set no variable.
      await expect(connect({ url: other.url, access: {} })).rejects.toThrow(
        /start it there with "throughline up", or name its new address with "throughline team join URL"/,
      );
    },
  );

  it('connecting takes the first of several servers that answers', async () => {
    await using nats = await startTestNats();
    const connection = await connect(`nats://${NOBODY}, ${nats.url}`);
    expect(connection.info?.jetstream).toBe(true);
    await connection.close();
  });

  it('a connection comes back by itself after the server was killed, logs both, and finds what was stored', async () => {
    await using nats = await startPrivateNats();
    const logger = { ...silentLogger, warn: vi.fn(), info: vi.fn() };
    const connection = await connect(nats.url, logger);
    const jsm = await connection.jetstreamManager();
    await jsm.streams.add({ name: 'S', subjects: ['s'] });
    await connection.jetstream().publish('s', 'kept');
    await nats.kill();
    await soon(() => expect(logger.warn).toHaveBeenCalled());
    await nats.restart();
    await soon(() => expect(logger.info).toHaveBeenCalled());
    expect((await jsm.streams.getMessage('S', { seq: 1 })).string()).toBe('kept');
    await connection.close();
  });
});

describe('openNats', () => {
  it('opening NATS closes the connection again when a stream of that name belongs to another application', async () => {
    await using nats = await startPrivateNats({ monitor: true });
    const connection = await connect(nats.url);
    await (await connection.jetstreamManager()).streams.add({ name: 'DISPATCH', subjects: ['mine.>'] });
    const opening = openNats({
      url: nats.url,
      name: 'refused',
      logger: silentLogger,
      replicas: 1,
      requestTimeoutMs: 5000,
      ackWaitMs: 1000,
      maxInHand: 10,
    });
    await expect(opening).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/DISPATCH.*dispatch\.>/),
    });
    await soon(async () => {
      const connz: unknown = await (await fetch(`${nats.monitorUrl}/connz`)).json();
      expect(connz).toMatchObject({ num_connections: 1 });
    });
    await connection.close();
  });
});
