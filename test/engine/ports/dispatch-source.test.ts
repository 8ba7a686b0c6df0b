import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
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
import { openPorts, startNatsPorts } from './opened.js';

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
