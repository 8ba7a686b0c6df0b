import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  DISPATCH_STREAM,
  EXTRACTOR_CONSUMER,
  PER_SESSION,
  type SessionLayout,
} from '../../src/contracts/names.js';
import { retryRejected } from '../../src/services/tools/result-queries.js';
import { allRejected } from '../support/all-rejected.js';
import { startNode } from '../support/cli.js';
import { freshReader } from '../support/faults/clean-run.js';
import {
  type Acknowledged,
  expectCleanEndOn,
  expectNobodyConnected,
  publishAll,
} from '../support/faults/nats-run.js';
import { type Chance, chanceOf } from '../support/faults/random.js';
import { seeds, withSeed } from '../support/faults/settings.js';
import { publications } from '../support/faults/workload.js';
import { layoutEnv } from '../support/layouts.js';
import { type PrivateNats, startPrivateNats } from '../support/nats-server.js';
import { allDealtWith, type System, startSystem } from '../support/system.js';
import { TIER } from '../support/tier.js';

const MORTAL = fileURLToPath(new URL('../support/faults/mortal-worker.mjs', import.meta.url));
/** The dispatches of a dead worker are redelivered soon, and snapshots are written often. */
const SETTINGS = {
  THROUGHLINE_TUNING: 'ackWaitMs=500 snapshotEvery=5',
};
/** Layouts in turn: the number of points is odd, so a long run covers each point in both layouts. */
const LAYOUTS: readonly SessionLayout[] = [PER_SESSION, { layout: 'sharded', shards: 1 }];
type Env = Readonly<Record<string, string>>;

/** Interval of checks for remaining work, in milliseconds. */
const LOOK_MS = 50;

const POINTS = [
  'before append',
  'after append, before ack',
  'between two appends of a burst',
  'before a snapshot write',
  'during a snapshot write',
  'after a snapshot write',
  'before a rejection is kept',
  'after a rejection is kept, before term',
] as const;
const RETRY_POINTS = [
  'during retry, before it is published',
  'during retry, before the rejection is removed',
  'during retry, after the rejection is removed',
] as const;
const ALL = [...POINTS, ...RETRY_POINTS] as const;

/** Returns points in turn, so that as many seeds as points cover all of them. */
function pointOf(seed: number): string {
  return ALL[seed % ALL.length] ?? ALL[0];
}

/** The default tier covers two points per layout: after an append, and between two appends of a burst. */
const RUNS = seeds(TIER === 'all' ? ALL.length : 2, 200);

describe('a worker killed at a named point', () => {
  it.each(RUNS.map((seed) => ({ seed, point: pointOf(seed), layout: LAYOUTS[seed % 2] ?? PER_SESSION })))(
    'a worker killed at $point loses no result: $layout.layout, seed $seed',
    ({ seed, point, layout }) => {
      const env = { ...SETTINGS, ...layoutEnv(layout) };
      return withSeed('crash-points', seed, () => round(chanceOf(seed), point, env));
    },
  );
});

async function round(chance: Chance, point: string, env: Env): Promise<void> {
  const retry = RETRY_POINTS.some((each) => each === point);
  await using nats = await startPrivateNats({ monitor: true });
  const acknowledged: Acknowledged = new Map();
  {
    await using publisher = await startSystem({ nats, env, only: [] });
    const work = publications(chance, {
      sessions: ['one', 'two'],
      perSession: chance.between(15, 30),
      invalid: 0.3,
    });
    await publishAll(publisher.ports, work, acknowledged);
  }
  const retried = retry ? await rejectedByAll(nats, env) : new Set<number>();
  expect(await dieAt(nats, env, point, chance.between(1, 2), 15_000)).toBe(true);
  if (!retry && chance.happens(0.3)) await dieAt(nats, env, chance.pick(POINTS), 1, 500);
  {
    await using heir = await startSystem({ nats, env });
    await retryRest(heir, retried);
    await expectCleanEndOn(heir.ports, acknowledged, { retried });
  }
  await expectNobodyConnected(nats);
}

/** Processes everything and returns the rejected dispatches. */
async function rejectedByAll(nats: PrivateNats, env: Env): Promise<Set<number>> {
  await using system = await startSystem({ nats, env });
  const { ports } = system;
  await allDealtWith(ports);
  return new Set((await allRejected(ports.rejected)).map(({ sequence }) => sequence));
}

/**
 * Runs a worker until it dies, or kills it after `idleMs` without work. Returns whether it reached its point.
 */
async function dieAt(
  nats: PrivateNats,
  env: Env,
  point: string,
  count: number,
  idleMs: number,
): Promise<boolean> {
  await using worker = await startNode([MORTAL, nats.url, point, String(count)], env);
  await using watcher = await startSystem({ nats, env, only: [] });
  const jsm = await watcher.ports.connection.jetstreamManager();
  let dead = false;
  const exited = worker.exited.finally(() => {
    dead = true;
  });
  for (let idle = 0; !dead && idle < idleMs / LOOK_MS; ) {
    await Promise.race([exited, sleep(LOOK_MS)]);
    const { num_pending, num_ack_pending } = await jsm.consumers.info(DISPATCH_STREAM, EXTRACTOR_CONSUMER);
    idle = num_pending + num_ack_pending === 0 && !point.startsWith('during retry') ? idle + 1 : 0;
  }
  worker.signal('SIGKILL');
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' });
  return worker.stderr().includes(`died ${point}`);
}

/** Resumes the interrupted retry: retries dispatches that were rejected before it. */
async function retryRest({ ports }: System, before: ReadonlySet<number>): Promise<void> {
  for (const { id, sequence } of await allRejected(ports.rejected)) {
    if (before.has(sequence)) await retryRejected({ ...ports, reader: freshReader(ports.log) }, id);
  }
}
