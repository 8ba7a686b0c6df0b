import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { Token } from '../../../src/contracts/names.js';
import type { InstalledLayout } from '../../../src/contracts/session-layout.js';
import type { OwnStream, SessionPlace } from '../../../src/nats/jetstream/session-places.js';
import { LayoutMove, type LayoutMovePorts } from '../../../src/services/layout/layout-move.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { rejected, timeOf } from '../../support/builders.js';

/** Longer than the move waits until it asks again. */
const AGAIN_MS = 700;
const SESSIONS = ['one', 'two'] as Token[];

/** Two sessions with a stream each, on servers that fail as often as is said: at claims, records and fences. */
async function installation(patienceMs?: number) {
  const left = { claim: 0, recorded: 0, fence: 0 };
  const fails = (what: keyof typeof left) => {
    left[what] -= 1;
    if (left[what] >= 0) throw new ThroughlineError('unavailable', `${what}: no leader`);
  };
  const own = new MemorySessionLog();
  const sharded = new MemorySessionLog({ sequenceStep: 10_000 });
  for (const session of SESSIONS) await own.append(session, rejected(1));
  const places = new Map<Token, SessionPlace>(SESSIONS.map((session) => [session, 'own']));
  const streamOf = (session: Token) => ({ session, place: places.get(session), messages: 1, last: 1 });
  const [fencing, waits] = [new Map<Token, number>(), [] as string[]];
  const count = (session: Token, by: number) => fencing.set(session, (fencing.get(session) ?? 0) + by);
  let most = 0;
  let layout: InstalledLayout = { layout: 'per-session' };
  const moving = {
    claim: async () => fails('claim'),
    claimed: () => undefined,
    async recorded() {
      fails('recorded');
      return { layout, sequence: 1 };
    },
    async replace(_: unknown, next: InstalledLayout) {
      layout = next;
      return { layout, sequence: 1 };
    },
    removeShards: async () => {},
    takeBackMarks: async () => {},
    makeShards: async () => {},
    aboveShards: async () => new Map([0, 1].map((shard) => [shard, 9999])),
    own: {
      list: async () => SESSIONS.map(streamOf),
      async fence({ session }: OwnStream) {
        most = Math.max(most, count(session, 1).get(session) ?? 0);
        // The first one fails at once, while the other one takes its time.
        if (session === 'two') await wait(AGAIN_MS);
        count(session, -1);
        if (session === 'one') fails('fence');
        places.set(session, 'fenced');
        return streamOf(session);
      },
      moved: async ({ session }: OwnStream) => places.set(session, 'moved'),
    },
  };
  const nats = { moving, logs: { own, sharded: () => sharded }, snapshots: new MemorySnapshotStore() };
  const move = new LayoutMove({
    nats: nats as unknown as LayoutMovePorts['nats'],
    clock: () => timeOf(1),
    onWaiting: (fault) => waits.push(fault),
    settleMs: 0,
    ...(patienceMs !== undefined && { patienceMs }),
  });
  return { move, left, waits, mostAtOnce: () => most };
}

const DONE = { layout: { layout: 'moving', shards: 2, towards: 'sharded' }, moved: 2, failed: [] };

it('a move waits for servers that agree on another leader, says so once, and goes on where it was', async () => {
  const { move, left, waits } = await installation();
  Object.assign(left, { claim: 1, recorded: 1 });
  expect(await move.toShards(2, false)).toEqual(DONE);
  expect(waits).toEqual(['claim: no leader']);
});

it('a move that is cut short goes on only when no session is on its way any more', async () => {
  const { move, left, waits, mostAtOnce } = await installation();
  left.fence = 1;
  expect(await move.toShards(2, false)).toEqual(DONE);
  expect(waits).toEqual(['fence: no leader']);
  expect(mostAtOnce()).toBe(1);
});

it('a move ends with unavailable where servers give no answer for longer than it waits', async () => {
  const { move, left, waits } = await installation(1);
  left.recorded = Number.POSITIVE_INFINITY;
  await expect(move.toShards(2, false)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(move.back()).rejects.toMatchObject({ code: 'unavailable' });
  expect(waits).toEqual(['recorded: no leader', 'recorded: no leader']);
});
