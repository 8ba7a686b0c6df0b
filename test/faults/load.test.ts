import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  DISPATCH_STREAM,
  dispatchSubject,
  EXTRACTOR_CONSUMER,
  LEARNER_CONSUMER,
  token,
} from '../../src/contracts/names.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { expectNobodyConnected } from '../support/faults/nats-run.js';
import { processStatus, startFaultyServer } from '../support/faults/server.js';
import { SETTINGS } from '../support/faults/settings.js';
import { allDealtWith, freshState, manyResults, type System, soon, startSystem } from '../support/system.js';

/**
 * A steady load for a long time, prompts being asked for beside it, on services in a process of their own.
 * `npm run test:faults -- load --minutes 0.5 --rate 500` runs a short one; alone it is part of the long version.
 */
const { minutes, rate } = SETTINGS.load;
const SESSIONS = Array.from({ length: 40 }, (_, index) => token(`steady-${index}`, 'session'));
const TICK_MS = 50;
/** Resident memory may end this much above what it was in the first half, when all sessions had filled up. */
const GROWTH = 1.3;
/** Sessions fill up to their limits first: memory that grows for some minutes is no leak yet. */
const WARM_MINUTES = 5;

it.runIf(SETTINGS.load.asked)(
  `takes ${rate} results a second for ${minutes} minutes, and ends with flat memory and no lag`,
  async () => {
    await using server = await startFaultyServer();
    {
      await using system = await startSystem({ nats: server, only: [] });
      await using services = await startCli(['serve'], {
        NATS_URL: server.url,
        THROUGHLINE_LOG_LEVEL: 'warn',
      });
      const memory: number[] = [];
      const lags: number[] = [];
      const latencies: number[] = [];
      const failures: unknown[] = [];
      const over = performance.now() + minutes * 60_000;
      const asking = ask(system, over, latencies, failures);
      const looking = look(system, services, over, memory, lags);
      const published = await publish(system, over);
      await Promise.all([asking, looking]);
      await allDealtWith(system.ports);
      await reviewsLearned(system);

      for (const [index, session] of SESSIONS.entries()) {
        const { implementer, reviewer, rejected } = (await freshState(system, session)).dispatches.current()
          .counts;
        expect([implementer + reviewer, rejected], session).toEqual([published[index], 0]);
      }
      const total = published.reduce((sum, count) => sum + count, 0);
      const warm = Math.max(...memory.slice(0, Math.ceil(memory.length / 2)));
      latencies.sort((one, other) => one - other);
      console.log(
        JSON.stringify({
          published: total,
          perSecond: Math.round(total / minutes / 60),
          compiled: latencies.length,
          compileP50: Math.round(latencies[Math.floor(latencies.length / 2)] ?? 0),
          compileP99: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
          failures: failures.length,
          highestLag: Math.max(...lags),
          residentMiB: memory.map((bytes) => Math.round(bytes / 2 ** 20)),
        }),
      );
      expect(failures).toEqual([]);
      expect(total).toBeGreaterThan(rate * minutes * 60 * 0.9);
      if (minutes >= WARM_MINUTES) expect(memory.at(-1)).toBeLessThan(warm * GROWTH);
      expect(services.stderr()).toBe('');
      expect(await services.stop()).toEqual({ code: 0, signal: null });
    }
    await expectNobodyConnected(server);
  },
  minutes * 60_000 + 120_000,
);

/** Waits until the learner has dealt with every review. */
async function reviewsLearned({ ports }: System): Promise<void> {
  const jsm = await ports.connection.jetstreamManager();
  await soon(async () => {
    const { num_pending, num_ack_pending } = await jsm.consumers.info(DISPATCH_STREAM, LEARNER_CONSUMER);
    expect([num_pending, num_ack_pending]).toEqual([0, 0]);
  });
}

/** Publishes at the rate; gives how many results each session got. */
async function publish({ ports }: System, over: number): Promise<number[]> {
  const results = manyResults(66);
  const counts = SESSIONS.map(() => 0);
  const begun = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let next = 0; performance.now() < over; ) {
    const due = ((performance.now() - begun) / 1000) * rate;
    for (; next < due; next += 1) {
      const index = next % SESSIONS.length;
      const session = SESSIONS[index];
      const result = results[next % results.length];
      if (session === undefined || result === undefined) continue;
      counts[index] = (counts[index] ?? 0) + 1;
      sent.push(ports.source.publish(dispatchSubject(session, result.role), Buffer.from(result.body)));
    }
    await Promise.all(sent.splice(0));
    await sleep(TICK_MS);
  }
  return counts;
}

/** Asks for one prompt after the other, session by session. */
async function ask(
  { client }: System,
  over: number,
  latencies: number[],
  failures: unknown[],
): Promise<void> {
  for (let turn = 0; performance.now() < over; turn += 1) {
    const session = SESSIONS[turn % SESSIONS.length] ?? '';
    const begun = performance.now();
    await client.compile({ session, taskId: 't1', taskPrompt: 'step' }).catch((error: unknown) => {
      failures.push(error);
    });
    latencies.push(performance.now() - begun);
    await sleep(TICK_MS);
  }
}

/** Looks at the services' memory and at the lag, a hundred times in all. */
async function look(
  { ports }: System,
  services: RunningProcess,
  over: number,
  memory: number[],
  lags: number[],
): Promise<void> {
  const jsm = await ports.connection.jetstreamManager();
  while (performance.now() < over) {
    await sleep((minutes * 60_000) / 100);
    memory.push(Number(await processStatus(services.pid, 'rss')) * 1024);
    lags.push((await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER)).num_pending);
  }
}
