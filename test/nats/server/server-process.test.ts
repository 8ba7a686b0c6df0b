import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'nats';
import { beforeEach, describe, expect, it } from 'vitest';
import { startNatsServer } from '../../../src/nats/server/server-process.js';
import { nativeSource } from '../../support/nats-native.js';
import { folderOfTest } from '../../support/of-file.js';

const source = await nativeSource();

let root: string;
beforeEach(async () => {
  root = await folderOfTest();
});

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a server', () => {
  const start = (options: Partial<Parameters<typeof startNatsServer>[0]> = {}) =>
    startNatsServer({ source, storeDir: join(root, 'store'), ...options });

  it('a started server is ready, with JetStream, and stops without a trace', async () => {
    const listeners = process.listenerCount('exit');
    const lines: string[] = [];
    const server = await start({
      extraConfig: 'max_payload: 4096',
      log: (line) => lines.push(line),
    });
    expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);

    const nc = await connect({ servers: server.url });
    expect(nc.info).toMatchObject({ jetstream: true, max_payload: 4096 });
    await nc.close();
    expect(isRunning(server.pid)).toBe(true);

    await server.stop();
    await server.stop();
    await server.kill();
    await server.exited;
    expect(isRunning(server.pid)).toBe(false);
    expect(process.listenerCount('exit')).toBe(listeners);
    expect(lines[0]).toContain(server.url);
    expect(lines[1]).toContain('ended');
    expect((await stat(server.logFile)).size).toBeGreaterThan(0);
    expect((await stat(join(server.storeDir, 'jetstream'))).uid).toBe(process.getuid?.());
  });

  it('a server keeps what was acknowledged over a kill and a restart on the same store', async () => {
    const first = await start();
    const before = await connect({ servers: first.url, reconnect: false });
    await (await before.jetstreamManager()).streams.add({ name: 'S', subjects: ['s.>'] });
    const ack = await before.jetstream().publish('s.1', 'kept');
    await first.kill();
    await before.closed();

    const second = await start({ port: first.port });
    expect(second.port).toBe(first.port);
    const after = await connect({ servers: second.url });
    const message = await (await after.jetstreamManager()).streams.getMessage('S', { seq: ack.seq });
    expect(message.string()).toBe('kept');
    await after.close();
    await second.stop();
  });

  it('a server start refuses a port that is in use, and names it and the option', async () => {
    const first = await start();
    await expect(start({ port: first.port, storeDir: join(root, 'other') })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(new RegExp(`^port ${first.port} on 127.0.0.1 is in use: .*--port`)),
    });
    await first.stop();
  });

  it('a server start that fails shows the end of the server’s log', async () => {
    await expect(start({ extraConfig: 'no_such_option: 1' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /ended before it was ready.*nats-server\.log.*unknown field "no_such_option"/s,
      ),
    });
  });
});

describe('faults', () => {
  it('a server start says so when there is nothing to run', async () => {
    const source = { path: join(root, 'gone'), version: '2.15.0', foundBy: 'PATH' } as const;
    await expect(startNatsServer({ source, storeDir: root })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('ENOENT'),
    });
  });
});
