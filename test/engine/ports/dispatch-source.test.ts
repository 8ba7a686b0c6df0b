import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { DISPATCH_STREAM, EXTRACTOR_CONSUMER } from '../../../src/contracts/names.js';
import { ManualScheduler } from '../../doubles/manual-scheduler.js';
import { MemoryDispatchSource } from '../../doubles/memory-dispatch-source.js';
import { ofFile } from '../../support/of-file.js';
import { soon } from '../../support/soon.js';
import {
  type DispatchSourceSettings,
  dispatchSourceContract,
  type OpenedDispatchSource,
} from './dispatch-source.contract.js';
import { bytes, openPorts, startNatsPorts } from './opened.js';

/** Longest wait, in the source's own time. */
const SOON_MS = 10_000;

function inMemory({ ackWaitMs }: DispatchSourceSettings, pick?: (count: number) => number) {
  const scheduler = new ManualScheduler(pick && { pick });
  const source = new MemoryDispatchSource({ scheduler, ackWaitMs, maxInHand: 100 });
  const opened: OpenedDispatchSource = {
    source,
    other: source,
    now: () => scheduler.now(),
    elapse: (ms) => scheduler.advance(ms),
    async soon(assert) {
      for (const deadline = scheduler.now() + SOON_MS; ; await scheduler.advance(10)) {
        try {
          return assert();
        } catch (error) {
          if (scheduler.now() >= deadline) throw error;
        }
      }
    },
    stored: async (sequence) => source.stored(sequence),
    close: async () => {},
  };
  return opened;
}

dispatchSourceContract('in memory', async (settings) => inMemory(settings));
dispatchSourceContract('in memory, where the last that is due comes first', async (settings) =>
  inMemory(settings, (count) => count - 1),
);

describe('in memory', () => {
  it('the dispatch source in memory uses no wall clock: nothing happens until time is moved', async () => {
    const scheduler = new ManualScheduler();
    const source = new MemoryDispatchSource({ scheduler, ackWaitMs: 1000 });
    const handler = vi.fn();
    await source.consume(handler);
    await source.publish('dispatch.demo.reviewer', bytes('x'));
    await sleep(5);
    expect(handler).not.toHaveBeenCalled();
    await scheduler.advance(0);
    expect(handler).toHaveBeenCalledTimes(1);
    await scheduler.advance(999);
    expect(handler).toHaveBeenCalledTimes(1);
    await scheduler.advance(1);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it('the dispatch source in memory gives one consumer no more than it may hold, and the rest to others', async () => {
    const scheduler = new ManualScheduler();
    const source = new MemoryDispatchSource({ scheduler, maxInHand: 2 });
    const [one, two] = [vi.fn(), vi.fn()];
    await source.consume(one);
    for (let index = 0; index < 5; index += 1) await source.publish('dispatch.demo.reviewer', bytes('x'));
    await scheduler.advance(10);
    expect(one).toHaveBeenCalledTimes(2);
    await source.consume(two);
    await scheduler.advance(10);
    expect(two).toHaveBeenCalledTimes(2);
    one.mock.calls[0]?.[0].ack();
    await scheduler.advance(10);
    expect(one.mock.calls.length + two.mock.calls.length).toBe(5);
  });

  it('the dispatch source in memory counts an ack that comes after the ack wait', async () => {
    const scheduler = new ManualScheduler();
    const source = new MemoryDispatchSource({ scheduler, ackWaitMs: 1000 });
    const handler = vi.fn();
    const consumption = await source.consume(handler);
    await source.publish('dispatch.demo.reviewer', bytes('x'));
    await scheduler.advance(10);
    await consumption.close();
    await scheduler.advance(2000);
    handler.mock.calls[0]?.[0].ack();
    await source.consume(handler);
    await scheduler.advance(5000);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe('on NATS', async () => {
  const nats = await ofFile(startNatsPorts());

  /** Opens an empty source: the consumer and the messages of an earlier test are deleted. */
  dispatchSourceContract('on NATS', async ({ ackWaitMs }) => {
    const jsm = await nats.connection.jetstreamManager();
    await jsm.consumers.delete(DISPATCH_STREAM, EXTRACTOR_CONSUMER).catch(() => false);
    await jsm.streams.purge(DISPATCH_STREAM);
    const one = await openPorts(nats.server.url, { ackWaitMs });
    const two = await openPorts(nats.server.url, { ackWaitMs });
    return {
      source: one.source,
      other: two.source,
      now: () => Date.now(),
      elapse: (ms) => sleep(ms),
      soon,
      async stored(sequence) {
        const { subject, data } = await jsm.streams.getMessage(DISPATCH_STREAM, { seq: sequence });
        return { subject, body: data };
      },
      async close() {
        await one.close();
        await two.close();
      },
    };
  });
});
