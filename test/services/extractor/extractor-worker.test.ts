import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import type { NewestResults, SessionLog } from '../../../src/engine/ports/session-log.js';
import { startExtractor } from '../../../src/services/extractor/extractor-worker.js';
import { ManualScheduler } from '../../doubles/manual-scheduler.js';
import { MemoryDispatchSource } from '../../doubles/memory-dispatch-source.js';
import { MemoryRejectedStore } from '../../doubles/memory-rejected-store.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { DEMO } from '../../doubles/spied-ports.js';
import { allRejected } from '../../support/all-rejected.js';
import { freshReader } from '../../support/faults/clean-run.js';

const MAX_DELIVERIES = 2;
const HOUR_MS = 3_600_000;

/** Returns an extractor whose rejected store, or log, first fails so many times, or whose log is down for so long. */
async function extractorOn(failing: { put?: number; append?: number; downMs?: number }) {
  const scheduler = new ManualScheduler();
  const source = new MemoryDispatchSource({ scheduler });
  const log = new MemorySessionLog();
  const rejected = new MemoryRejectedStore();
  let puts = failing.put ?? 0;
  let appends = failing.append ?? 0;
  const upAt = scheduler.now() + (failing.downMs ?? 0);
  const fault = () => {
    if (scheduler.now() < upAt) return new ThroughlineError('unavailable', 'the log cannot be reached');
    return appends-- > 0 ? new ThroughlineError('store_full', 'the log is full') : undefined;
  };
  await startExtractor(
    {
      source,
      log: {
        read: (...args) => log.read(...args),
        newest: (...args) => log.newest(...args),
        newestResults: (...args) => log.newestResults(...args),
        watch: (...args) => log.watch(...args),
        append(...args) {
          const failing = fault();
          return failing === undefined ? log.append(...args) : Promise.reject(failing);
        },
      },
      rejected: {
        page: (asked) => rejected.page(asked),
        get: (...args) => rejected.get(...args),
        remove: (...args) => rejected.remove(...args),
        put: (...args) => (puts-- > 0 ? Promise.reject(new Error('full')) : rejected.put(...args)),
      },
      reader: freshReader(log),
      logger: silentLogger,
    },
    {
      maxBodyBytes: 1000,
      maxDeliveries: MAX_DELIVERIES,
      random: () => 1,
      now: () => scheduler.now(),
    },
  );
  const publish = (text: string, subject = 'dispatch.demo.implementer') =>
    source.publish(subject, new TextEncoder().encode(text));
  const codes = async () => ({
    kept: (await allRejected(rejected)).map(({ code }) => code),
    noted: (await log.read(DEMO, { after: 0 })).events.flatMap(({ event }) =>
      event.type === 'dispatch.rejected' ? [event.data.error.code] : [event.type],
    ),
  });
  return { scheduler, publish, codes, log, rejected };
}

describe('a dispatch that keeps failing', () => {
  it('a dispatch that keeps failing is given up after so many deliveries', async () => {
    const { scheduler, publish, codes, log } = await extractorOn({ append: MAX_DELIVERIES });
    await publish('{"task_id":"1","status":"completed","summary":"s"}');
    await scheduler.advance(60_000);
    expect(await codes()).toEqual({ kept: ['deliveries_exhausted'], noted: ['deliveries_exhausted'] });
    expect((await log.read(DEMO, { after: 0 })).events[0]?.event.data).toMatchObject({
      dispatch: { task: '1' },
      error: { fix: expect.stringContaining('send it again unchanged') },
    });
  });

  it('a dispatch is recorded in the end when nothing could be stored for any number of deliveries', async () => {
    const { scheduler, publish, codes, log } = await extractorOn({ downMs: HOUR_MS });
    const at = new Date(scheduler.now()).toISOString();
    await publish('{"task_id":"1","status":"completed","summary":"s"}');
    await scheduler.advance(2 * HOUR_MS);
    expect(await codes()).toEqual({ kept: [], noted: ['fact.recorded'] });
    const [recorded] = (await log.read(DEMO, { after: 0 })).events;
    expect(recorded?.event, 'when it was published').toMatchObject({ at, data: { dispatch: { at } } });
  });

  it('a rejected dispatch keeps the reason why it cannot be used, however often it was delivered', async () => {
    const { scheduler, publish, codes } = await extractorOn({ put: MAX_DELIVERIES + 1 });
    await publish('{"task_id":');
    await scheduler.advance(60_000);
    expect(await codes()).toEqual({ kept: ['json_parse_failed'], noted: ['json_parse_failed'] });
  });
});

it.each([
  ['dispatch.demo.boss', ['subject_invalid']],
  ['dispatch.*.implementer', []],
])('a dispatch whose subject names no role or no session is rejected: %s', async (subject, noted) => {
  const { scheduler, publish, codes, rejected } = await extractorOn({});
  const body = '{"task_id":"1","status":"completed","summary":"s"}';
  await publish(body, subject);
  await scheduler.advance(500);
  expect(await codes()).toEqual({ kept: ['subject_invalid'], noted });
  const [kept] = await allRejected(rejected);
  expect(kept).toMatchObject({ subject, bytes: body.length });
});

describe('a dispatch of a session whose log refuses everything', () => {
  it('a dispatch of a session whose log refuses everything is rejected without a note, once it stands in the rejected store', async () => {
    const { scheduler, publish, codes } = await extractorOn({ append: Number.POSITIVE_INFINITY, put: 3 });
    await publish('{"task_id":"1","status":"completed","summary":"s"}');
    await publish('{"task_id":');
    await scheduler.advance(500);
    expect(await codes()).toEqual({ kept: [], noted: [] });
    await scheduler.advance(HOUR_MS);
    const { kept, noted } = await codes();
    expect(kept.sort()).toEqual(['deliveries_exhausted', 'json_parse_failed']);
    expect(noted).toEqual([]);
  });
});

describe('an extractor that stops', () => {
  it('an extractor that stops puts back what waits for its turn, so that another one has it at once', async () => {
    const scheduler = new ManualScheduler();
    const source = new MemoryDispatchSource({ scheduler });
    const log = new MemorySessionLog();
    let finish = () => {};
    const hanging: SessionLog & NewestResults = {
      newest: (...args) => log.newest(...args),
      newestResults: (...args) => log.newestResults(...args),
      read: (...args) => log.read(...args),
      watch: (...args) => log.watch(...args),
      append: (...args) =>
        new Promise((resolve) => {
          finish = () => resolve(log.append(...args));
        }),
    };
    const start = (sessionLog: SessionLog & NewestResults) =>
      startExtractor(
        {
          source,
          log: sessionLog,
          rejected: new MemoryRejectedStore(),
          reader: freshReader(log),
          logger: silentLogger,
        },
        {
          maxBodyBytes: 1000,
          maxDeliveries: MAX_DELIVERIES,
          maxInHand: 1,
          random: () => 1,
          now: () => scheduler.now(),
        },
      );
    const first = await start(hanging);
    for (let index = 0; index < 5; index += 1) {
      const body = `{"task_id":"${index}","status":"completed","summary":"s"}`;
      await source.publish('dispatch.demo.implementer', new TextEncoder().encode(body));
    }
    await scheduler.advance(10);
    expect(first.inHand()).toBe(5);
    const stopped = first.stop();
    await scheduler.advance(10);
    finish();
    await stopped;
    await start(log);
    await scheduler.advance(10);
    expect((await log.read(DEMO, { after: 0 })).events).toHaveLength(5);
  });
});
