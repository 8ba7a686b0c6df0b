import { type JetStreamManager, nanos } from 'nats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { gate } from '../../doubles/spied-ports.js';
import { bytes, type OpenedNats, openPorts, startNatsPorts } from '../../engine/ports/opened.js';
import { soon } from '../../support/soon.js';

const SUBJECT = 'dispatch.demo.implementer';

let nats: OpenedNats;
let jsm: JetStreamManager;
beforeEach(async () => {
  nats = await startNatsPorts();
  jsm = await nats.connection.jetstreamManager();
});
afterEach(() => nats.close());

const publish = async () => (await nats.source.publish(SUBJECT, bytes('x'))).sequence;

async function consumed() {
  const delivered: number[] = [];
  const { close } = await nats.source.consume((delivery) => {
    delivered.push(delivery.sequence);
    delivery.ack();
  });
  return { delivered, close };
}

describe('a consumer that was deleted', () => {
  it('a deleted consumer is made again, and delivers what was not acknowledged and what comes', async () => {
    const { delivered, close } = await consumed();
    const first = await publish();
    await soon(() => expect(delivered).toEqual([first]));
    await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    const second = await publish();
    await soon(() => expect(delivered).toContain(second));
    expect((await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).config).toMatchObject({
      ack_policy: 'explicit',
      max_deliver: -1,
    });
    await close();
  });

  it('a deleted consumer is made once for all that share it', async () => {
    const other = await openPorts(nats.server.url);
    const delivered: number[] = [];
    const consumption = await other.source.consume((delivery) => {
      delivered.push(delivery.sequence);
      delivery.ack();
    });
    const mine = await consumed();
    for (let round = 0; round < 3; round += 1) {
      await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
      await jsm.streams.purge(DISPATCH_STREAM);
      const published = [await publish(), await publish()];
      await soon(() => {
        expect([...delivered, ...mine.delivered]).toEqual(expect.arrayContaining(published));
      });
    }
    await consumption.close();
    await mine.close();
    await other.close();
  });

  it('a deleted consumer does not keep a consumption from being closed', async () => {
    const { delivered, close } = await consumed();
    await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    await close();
    await publish();
    const again = await consumed();
    await soon(() => expect(again.delivered).toHaveLength(1));
    expect(delivered).toEqual([]);
    await again.close();
  });
});

describe('a consumer that was made with another configuration', () => {
  it('a consumer takes the configuration of the last process that comes', async () => {
    for (const ackWaitMs of [30_000, 2000]) {
      const ports = await openPorts(nats.server.url, { ackWaitMs });
      const consumption = await ports.source.consume(() => {});
      const { config } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
      // Extractors limit their unacknowledged dispatches themselves.
      expect(config).toMatchObject({ max_ack_pending: -1, ack_wait: nanos(ackWaitMs) });
      await consumption.close();
      await ports.close();
    }
  });
});

describe('a dispatch stream that was deleted', () => {
  it('a deleted dispatch stream begins with 1 on a new server', async () => {
    expect(await publish()).toBe(1);
  });

  it('a deleted dispatch stream is made again above all numbers that it gave, also those that were not recorded yet', async () => {
    const given = [await publish(), await publish()];
    await jsm.streams.delete(DISPATCH_STREAM);
    expect(await publish()).toBeGreaterThan(Math.max(...given));
    await nats.numbers.record(5_000_000);
    await nats.numbers.record(7);
    await jsm.streams.delete(DISPATCH_STREAM);
    expect(await publish()).toBeGreaterThan(5_000_000);
  });

  it('a dispatch stream below the numbers that it gave keeps services from starting, until all streams are restored', async () => {
    await publish();
    await nats.numbers.record(2);
    await expect(openPorts(nats.server.url)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('restore all streams of one backup'),
    });
    await publish();
    await (await openPorts(nats.server.url)).close();
  });

  it('a deleted dispatch stream is consumed again by its earlier consumers', async () => {
    const { delivered, close } = await consumed();
    const before = await publish();
    await soon(() => expect(delivered).toEqual([before]));
    const other = await openPorts(nats.server.url);
    jsm = await other.connection.jetstreamManager();
    await jsm.streams.delete(DISPATCH_STREAM);
    await soon(() => jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER));
    const { sequence } = await other.source.publish(SUBJECT, bytes('x'));
    await soon(() => expect(delivered).toEqual([before, sequence]));
    expect(sequence).toBeGreaterThan(100_000);
    await close();
    await other.close();
  });
});

describe('a consumption that is closed', () => {
  it('a closed consumption passes on what is on its way, rather than leave it to the ack wait', async () => {
    await Promise.all(Array.from({ length: 3000 }, publish));
    const busy = await openPorts(nats.server.url, { maxInHand: 1000 });
    const first = gate();
    const { close } = await busy.source.consume((delivery) => {
      delivery.ack();
      first.open();
    });
    await first.opened;
    await close();
    const { num_pending } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    expect(num_pending).toBeGreaterThan(0);
    // The process that takes over receives all the rest at once.
    const heir = await consumed();
    await soon(async () => {
      expect(await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).toMatchObject({
        num_pending: 0,
        num_ack_pending: 0,
      });
    });
    await heir.close();
    await busy.close();
  });

  it('a closed consumption does not wait for the next attempt to make the consumer again', async () => {
    const paused = gate();
    const warn = (fields: object) => {
      if ('againInMs' in fields && fields.againInMs === 3200) paused.open();
    };
    const other = await openPorts(nats.server.url, { logger: { ...silentLogger, warn } });
    const { close } = await other.source.consume(() => {});
    // Now the stream has the wrong configuration.
    await jsm.streams.update(DISPATCH_STREAM, { allow_direct: false });
    await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    await paused.opened;
    const begun = performance.now();
    await close();
    expect(performance.now() - begun).toBeLessThan(3000);
    await other.close();
  });
});
