import { access } from 'node:fs/promises';
import { connect, type JetStreamManager, type NatsConnection } from 'nats';
import { describe, expect, it } from 'vitest';
import { whyNoContainer } from '../../support/nats-container.js';
import { type Backing, startPrivateNats } from '../../support/nats-server.js';

const noContainer = await whyNoContainer();
const backings: { backing: Backing; skipped: string }[] = [
  { backing: 'native', skipped: '' },
  { backing: 'container', skipped: noContainer === undefined ? '' : ` (skipped: ${noContainer})` },
];

/** Opens a connection for one step: killing the server closes its connections. */
async function withManager(
  url: string,
  use: (manager: JetStreamManager, nc: NatsConnection) => Promise<void>,
) {
  const nc = await connect({ servers: url, reconnect: false });
  try {
    await use(await nc.jetstreamManager(), nc);
  } finally {
    await nc.close();
  }
}

for (const { backing, skipped } of backings) {
  describe.skipIf(skipped !== '')(`the test fixture, ${backing}${skipped}`, () => {
    it('the test fixture gives every caller a server and a store of its own, and removes both', async () => {
      const storeDirs: string[] = [];
      {
        await using one = await startPrivateNats({ backing });
        await using two = await startPrivateNats({
          backing,
          maxPayloadBytes: 2048,
          extraConfig: 'max_connections: 7',
        });
        expect(one.backing).toBe(backing);
        expect(one.url).not.toBe(two.url);
        const nc = await connect({ servers: one.url });
        await (await nc.jetstreamManager()).streams.add({ name: 'ONE', subjects: ['one'] });
        await nc.close();
        const other = await connect({ servers: two.url });
        expect(other.info?.max_payload).toBe(2048);
        expect(await (await other.jetstreamManager()).streams.list().next()).toEqual([]);
        await other.close();
        storeDirs.push(one.storeDir, two.storeDir);
      }
      for (const storeDir of storeDirs) await expect(access(storeDir)).rejects.toThrow('ENOENT');
    });

    it('the test fixture restarts on the same port and store, running or killed', async () => {
      await using nats = await startPrivateNats({ backing, monitor: true });
      await withManager(nats.url, async (manager) => {
        await manager.streams.add({ name: 'S', subjects: ['s.>'] });
      });
      for (const crash of [true, false]) {
        if (crash) {
          await nats.kill();
          await nats.kill();
          await expect(connect({ servers: nats.url, reconnect: false })).rejects.toThrow();
        }
        await nats.restart();
        await withManager(nats.url, async (manager) => {
          expect((await manager.streams.info('S')).config.subjects).toEqual(['s.>']);
        });
      }
      expect((await fetch(`${nats.monitorUrl}/healthz`)).status).toBe(200);
    });

    it('the test fixture can be stopped after a kill, and twice', async () => {
      const nats = await startPrivateNats({ backing });
      await nats.kill();
      await nats.stop();
      await nats.stop();
      await expect(connect({ servers: nats.url, reconnect: false })).rejects.toThrow();
    });
  });
}
