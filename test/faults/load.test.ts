import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DISPATCH_STREAM, dispatchSubject, EXTRACTOR_CONSUMER, token } from '../../src/contracts/names.js';
import { type RunningProcess, startCli } from '../support/cli.js';
import { expectNobodyConnected } from '../support/faults/nats-run.js';
import { processStatus, startFaultyServer } from '../support/faults/server.js';
import { SETTINGS } from '../support/faults/settings.js';
import { allDealtWith, freshState, manyResults, type System, startSystem } from '../support/system.js';

/**
 * A steady load for a long time, with prompt requests, on services in a separate process, at half of their measured
 * limit; publisher, server and services run on the same machine. `npm run test:faults -- load --minutes 0.5` runs a
 * short version; by itself it is part of the long version.
 */
const { minutes } = SETTINGS.load;
/** Time of publishing at full speed to measure the limit, in milliseconds. */
const FULL_SPEED_MS = 20_000;
/** Maximum backlog during the measurement: the services must be neither idle nor far behind. */
const MAX_WAITING = 5000;
/** Results published between two checks of the time or the backlog. */
const BURST = 500;
const SESSIONS = Array.from({ length: 40 }, (_, index) => token(`steady-${index}`, 'session'));
const RESULTS = manyResults(66);
const CONSUMERS = [EXTRACTOR_CONSUMER] as const;
const TICK_MS = 50;
/** Allowed growth of resident memory since the first half, when all sessions had reached their limits. */
const GROWTH = 1.3;
/** Sessions reach their limits first: growth during these minutes is not a leak. */
const WARM_MINUTES = 5;

it.runIf(SETTINGS.load.asked)(
  `the services take ${SETTINGS.load.rate ?? 'half of all possible'} results a second for ${minutes} minutes, and end with flat memory and no lag`,
  async () => {
    await using server = await startFaultyServer();
    {
      await using system = await startSystem({ nats: server, only: [] });
      await using services = await startCli(['admin', 'serve'], {
        NATS_URL: server.url,
        THROUGHLINE_LOG_LEVEL: 'warn',
      });
      const memory: number[] = [];
      const lags: number[] = [];
      const latencies: number[] = [];
      const failures: unknown[] = [];
      const published = SESSIONS.map(() => 0);
      const limit =
        SETTINGS.load.rate === undefined ? await measuredLimit(system, published, failures) : undefined;
      const rate = SETTINGS.load.rate ?? Math.round((limit ?? 0) / 2);
      const over = performance.now() + minutes * 60_000;
      const asking = ask(system, over, latencies, failures);
      const looking = look(system, services, over, memory, lags);
      const total = await publish(system, published, over, rate);
      await Promise.all([asking, looking]);
      await allLearned(system);

      for (const [index, session] of SESSIONS.entries()) {
        const { implementer, reviewer, rejected } = (await freshState(system, session)).dispatches.current()
          .counts;
        expect([implementer + reviewer, rejected], session).toEqual([published[index], 0]);
      }
      const warm = Math.max(...memory.slice(0, Math.ceil(memory.length / 2)));
      latencies.sort((one, other) => one - other);
      console.log(
        JSON.stringify({
          ...(limit !== undefined && { limitPerSecond: Math.round(limit) }),
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

/** Returns the results per second from the first publish to the last result processed by the extractor. */
async function measuredLimit(system: System, counts: number[], failures: unknown[]): Promise<number> {
  const begun = performance.now();
  const over = begun + FULL_SPEED_MS;
  const asking = ask(system, over, [], failures);
  let published = 0;
  while (performance.now() < over) {
    const waiting = Math.max(...(await Promise.all(CONSUMERS.map((name) => lagOf(system, name)))));
    if (waiting < MAX_WAITING) published = await publishUpTo(system, counts, published, published + BURST);
    else await sleep(TICK_MS);
  }
  await asking;
  await allLearned(system);
  return published / ((performance.now() - begun) / 1000);
}

async function allLearned({ ports }: System): Promise<void> {
  for (const name of CONSUMERS) await allDealtWith(ports, name);
}

/** Publishes at `rate` results per second; returns the number published. */
async function publish(system: System, counts: number[], over: number, rate: number): Promise<number> {
  const begun = performance.now();
  let published = 0;
  while (performance.now() < over) {
    const due = Math.ceil(((performance.now() - begun) / 1000) * rate);
    published = await publishUpTo(system, counts, published, Math.min(due, published + BURST));
    await sleep(TICK_MS);
  }
  return published;
}

/** Publishes results `from` to `to` and counts them per session; returns `to`. */
async function publishUpTo({ ports }: System, counts: number[], from: number, to: number): Promise<number> {
  const sent: Promise<unknown>[] = [];
  for (let next = from; next < to; next += 1) {
    const index = next % SESSIONS.length;
    const session = SESSIONS[index];
    const result = RESULTS[next % RESULTS.length];
    if (session === undefined || result === undefined) continue;
    counts[index] = (counts[index] ?? 0) + 1;
    sent.push(ports.source.publish(dispatchSubject(session, result.role), Buffer.from(result.body)));
  }
  await Promise.all(sent);
  return to;
}

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

/** Samples the services' memory and lag a hundred times. */
async function look(
  system: System,
  services: RunningProcess,
  over: number,
  memory: number[],
  lags: number[],
): Promise<void> {
  while (performance.now() < over) {
    await sleep((minutes * 60_000) / 100);
    memory.push(Number(await processStatus(services.pid, 'rss')) * 1024);
    lags.push(...(await Promise.all(CONSUMERS.map((name) => lagOf(system, name)))));
  }
}

async function lagOf({ ports }: System, consumer: string): Promise<number> {
  const jsm = await ports.connection.jetstreamManager({ checkAPI: false });
  return (await jsm.consumers.info(DISPATCH_STREAM, consumer)).num_pending;
}
