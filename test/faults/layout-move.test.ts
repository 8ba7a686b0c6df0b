import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Token, token } from '../../src/contracts/names.js';
import { createSessionReader } from '../../src/folding/session-folding.js';
import type { NatsPorts } from '../../src/nats/open-nats.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { LayoutMove } from '../../src/services/layout/layout-move.js';
import { evolve } from '../../src/session/evolve-session.js';
import { encodeSnapshot } from '../../src/session/session-snapshot.js';
import { emptyState } from '../../src/session/session-state.js';
import { openPorts } from '../ports/opened.js';
import { SETTINGS } from '../support/faults/settings.js';
import {
  canonicalOf,
  moving,
  sessionsOfAllShapes,
  type Taker,
  taker,
  underLoad,
} from '../support/moved-layout.js';
import { startTestNats, type TestNats } from '../support/nats-server.js';

const SHARDS = 4;
let nats: TestNats;
const takers: Taker[] = [];
beforeAll(async () => {
  nats = await startTestNats();
  takers.push(await taker(nats.url), await taker(nats.url));
});
afterAll(async () => {
  for (const { ports } of takers) await ports.close();
  await nats.stop();
});

/** Killed before each of many requests and begun again, until it comes to its end. */
async function killedOften(how: (move: LayoutMove) => Promise<unknown>, points: readonly number[]) {
  for (const point of points) {
    const { killed } = await moving(nats.url, how, point);
    if (!killed) return;
  }
  const reports: unknown[] = [];
  await moving(nats.url, async (move) => reports.push(await how(move)));
  expect(reports).toMatchObject([{ failed: [] }]);
}

/** That a process which knows nothing yet finds of each session what it was, with its snapshot and without. */
async function expectSame(before: ReadonlyMap<Token, string>): Promise<void> {
  const ports = await openPorts(nats.url);
  const { log, snapshots } = ports;
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 10 });
  for (const [session, canonical] of before) {
    expect(await canonicalOf(log, session)).toBe(canonical);
    const { state } = (await reader.load(session)).folded;
    const { events } = await log.read(session, { after: 0 });
    const whole = events.reduce(evolve, emptyState(session));
    expect(encodeSnapshot(state, '')).toBe(encodeSnapshot({ ...whole, sequence: state.sequence }, ''));
  }
  await ports.close();
}

/** Every acknowledged result stands in the log once, and no task id was given twice. */
async function expectAcknowledged(load: ReturnType<typeof underLoad>): Promise<void> {
  const ports: NatsPorts = await openPorts(nats.url);
  for (const [session, { dispatches, tasks }] of load.acknowledged) {
    const { events } = await ports.log.read(session, { after: 0 });
    const stored = events.flatMap(({ event }) =>
      event.type === 'fact.recorded' ? [event.data.dispatch.sequence] : [],
    );
    const counted = stored.filter((dispatch) => dispatches.has(dispatch));
    expect(counted.sort()).toEqual([...dispatches].sort());
    expect(new Set(tasks).size).toBe(tasks.length);
    const { state } = (
      await createSessionReader({ ...ports, logger: silentLogger, maxSessions: 1 }).load(session)
    ).folded;
    expect([...state.board.tasks.keys()]).toEqual(expect.arrayContaining(tasks));
  }
  await ports.close();
}

it('sessions move to shards and back while results and commands come in, however often it is killed', async () => {
  const [one] = takers as [Taker, Taker];
  const quiet = await sessionsOfAllShapes(one, SETTINGS.long ? 200 : 24);
  const busy = Array.from({ length: 12 }, (_, index) => token(`busy-${index}`, 'session'));
  const before = new Map<Token, string>();
  for (const session of quiet) before.set(session, await canonicalOf(one.ports.log, session));
  const load = underLoad(takers, busy);

  // Another number of shards than in the end: who has followed the first move must not look for sessions in its shards.
  await killedOften(
    (move) => move.toShards(2 * SHARDS, false),
    SETTINGS.long ? [3, 8, 40, 90, 150, 333, 700, 1500] : [8, 60, 190],
  );
  await expectSame(before);
  await killedOften((move) => move.back(), SETTINGS.long ? [4, 9, 30, 77, 160, 500, 1200] : [30, 170]);
  await expectSame(before);
  await killedOften(
    (move) => move.toShards(SHARDS, true),
    SETTINGS.long ? [5, 50, 400, 2000, 2400, 2700] : [90, 330],
  );
  await expectSame(before);

  await load.end();
  expect(
    [...load.acknowledged.values()].reduce((sum, { dispatches }) => sum + dispatches.size, 0),
  ).toBeGreaterThan(50);
  await expectAcknowledged(load);
  const active = (await one.ports.log.activity()).map(({ session }) => session);
  expect(active).toEqual(expect.arrayContaining(busy));
  const jsm = await one.ports.connection.jetstreamManager();
  const names = await jsm.streams.names().next();
  expect(names.filter((name) => name.startsWith('SESSION'))).toEqual([
    'SESSIONS_00',
    'SESSIONS_01',
    'SESSIONS_02',
    'SESSIONS_03',
    'SESSIONS_MOVED',
  ]);
});
