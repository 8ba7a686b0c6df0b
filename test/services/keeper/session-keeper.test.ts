import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { SessionFeed, SessionTable } from '../../../src/services/common/session-table.js';
import { SessionKeeper } from '../../../src/services/keeper/session-keeper.js';
import { createArchiver } from '../../../src/services/lifecycle/archive-session.js';
import { MemorySessionIndex } from '../../doubles/memory-session-index.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';

const DEMO = token('demo', 'session');
const TIMES = { quietMs: 5000, busyMs: 15_000, restMs: 60_000 };
const START = Date.parse('2026-01-01T00:00:00.000Z');

function opened(goal: string): SessionEvent {
  return { v: EVENT_VERSION, type: 'session.opened', at: '2026-01-01T00:00:00.000Z', data: { goal } };
}

function installation() {
  const parts = {
    log: new MemorySessionLog(),
    index: new MemorySessionIndex(),
    snapshots: new MemorySnapshotStore(),
    now: START,
  };
  return parts;
}

async function keeperOn(parts: ReturnType<typeof installation>) {
  const { log, index, snapshots } = parts;
  const now = () => parts.now;
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 9 });
  const clock = () => new Date(parts.now).toISOString();
  const writer = createSnapshotWriter({ snapshots, clock, logger: silentLogger, every: 1000 });
  const table = new SessionTable(now);
  let reconnected = () => {};
  const feed = new SessionFeed({
    table,
    log,
    index,
    logger: silentLogger,
    now,
    onReconnect(listener) {
      reconnected = listener;
      return () => {};
    },
  });
  const lifecycle = new MemorySessionLifecycle();
  const archiver = createArchiver({
    log,
    reader,
    lifecycle,
    maxEventBytes: () => 1e6,
    command: createCommander({ log, reader, clock, newId: () => 'id', random: () => 0 }),
  });
  const keeper = new SessionKeeper({
    table,
    reader,
    writer,
    index,
    lifecycle,
    archiver,
    logger: silentLogger,
    times: TIMES,
    now,
  });
  feed.add(keeper);
  feed.start();
  await feed.ready;
  const pass = async (ms: number) => {
    parts.now += ms;
    await keeper.tick();
  };
  const stop = async () => {
    await keeper.stop();
    await feed.stop();
  };
  return { keeper, lifecycle, table, feed, pass, reconnected: () => reconnected(), stop };
}

describe('the keeper', () => {
  it('leaves a session alone whose log has no leader: its entry stays, and it stands in lists as it was', async () => {
    const parts = installation();
    const { log, index } = parts;
    const fresh = token('fresh', 'session');
    await log.append(DEMO, opened('parse'));
    const first = await keeperOn(parts);
    await first.pass(TIMES.quietMs);
    expect([...index.kept.keys()]).toEqual([DEMO]);
    await first.stop();
    await log.append(DEMO, opened('print'));
    await log.append(fresh, opened('new'));
    log.leaderless.add(DEMO).add(fresh);

    const { keeper, table, pass, stop } = await keeperOn(parts);
    expect(keeper.waiting).toBe(0);
    await pass(TIMES.quietMs);
    expect([...index.kept.keys()]).toEqual([DEMO]);
    expect(table.get(DEMO)).toMatchObject({
      sequence: 1,
      known: { searchText: expect.stringContaining('parse') },
    });
    // It counts as just moved: no rule considers it old.
    expect(table.get(fresh)).toMatchObject({ known: undefined, at: parts.now - TIMES.quietMs });
    expect(table.stale.size).toBe(0);
    await stop();
  });

  it('keeps when a session moved last that had no leader when it was first seen', () => {
    const table = new SessionTable(() => Date.parse('2026-06-01T00:00:00.000Z'));
    const begun = Date.parse('2026-06-01T00:00:00.000Z');
    table.compared([{ session: DEMO, sequence: undefined }], begun);
    expect(table.get(DEMO)?.at).toBe(begun);
    const at = '2026-01-01T00:00:00.000Z';
    table.compared([{ session: DEMO, sequence: 3, at }], begun);
    expect(table.get(DEMO)?.at).toBe(Date.parse(at));
  });

  it('closes a session again whose log says that it is archived, where the record of that is lost', async () => {
    const parts = installation();
    const { lifecycle, pass, stop } = await keeperOn(parts);
    const other = token('other', 'session');
    const at = '2026-01-01T00:00:00.000Z';
    const archived: SessionEvent = {
      v: EVENT_VERSION,
      type: 'session.archived',
      at,
      data: { reason: 'shipped' },
    };
    for (const session of [DEMO, other]) {
      await parts.log.append(session, opened('a'));
      await parts.log.append(session, archived);
    }
    await parts.log.append(other, { v: EVENT_VERSION, type: 'session.reopened', at, data: {} });

    await pass(TIMES.quietMs);

    expect(lifecycle.archived(DEMO)).toEqual({ at, reason: 'shipped', pending: true });
    expect(lifecycle.archived(other)).toBeUndefined();
    await stop();
  });

  it('writes the entry of a session that went quiet, and its snapshot once it rests', async () => {
    const parts = installation();
    const { keeper, pass, stop } = await keeperOn(parts);
    await parts.log.append(DEMO, opened('first'));
    await pass(4999);
    expect(parts.index.kept.size).toBe(0);
    await pass(1);
    expect(parts.index.kept.get('demo')?.entry).toMatchObject({
      v: 1,
      sequence: 1,
      at: '2026-01-01T00:00:00.000Z',
      figures: { session: 'demo', goal: 'first', status: 'open' },
    });
    expect(await parts.snapshots.load(DEMO)).toBeUndefined();
    await pass(55_000);
    expect((await parts.snapshots.load(DEMO))?.sequence).toBe(1);
    expect(keeper.counts).toEqual({ entries: 1, snapshots: 1, failed: 0 });
    await stop();
  });

  it('writes nothing twice, however many keepers hear of a session', async () => {
    const parts = installation();
    const [one, two] = [await keeperOn(parts), await keeperOn(parts)];
    await parts.log.append(DEMO, opened('first'));
    await Promise.all([one.pass(60_000), two.pass(0)]);
    const entries = one.keeper.counts.entries + two.keeper.counts.entries;
    const snapshots = one.keeper.counts.snapshots + two.keeper.counts.snapshots;
    expect({ entries, snapshots }).toEqual({ entries: 1, snapshots: 1 });
    await Promise.all([one.stop(), two.stop()]);
  });

  it('catches up with what happened while none ran, and writes no entry that is there', async () => {
    const parts = installation();
    const first = await keeperOn(parts);
    await parts.log.append(DEMO, opened('first'));
    await first.pass(60_000);
    await first.stop();
    const other = token('other', 'session');
    await parts.log.append(other, opened('later'));
    parts.now += 3_600_000;
    const next = await keeperOn(parts);
    await next.pass(0);
    expect(parts.index.kept.get('other')?.entry.figures).toMatchObject({ goal: 'later' });
    expect(next.keeper.counts).toEqual({ entries: 1, snapshots: 1, failed: 0 });
    await next.stop();
  });

  it('tries again what failed', async () => {
    const parts = installation();
    const { keeper, pass, stop } = await keeperOn(parts);
    await parts.log.append(DEMO, opened('first'));
    const { put } = parts.index;
    parts.index.put = () => Promise.reject(new Error('gone'));
    await pass(5000);
    expect(keeper.counts).toMatchObject({ entries: 0, failed: 1 });
    await pass(5000);
    expect(keeper.counts).toMatchObject({ entries: 0, failed: 2 });
    // Each pause is twice as long: writes without permission are not retried all the time.
    await pass(1999);
    expect(keeper.counts).toMatchObject({ failed: 2 });
    parts.index.put = put;
    await pass(5000);
    expect(keeper.counts).toMatchObject({ entries: 1, failed: 2 });
    await stop();
  });

  it('writes an index that was lost again, and removes entries whose log is gone', async () => {
    const parts = installation();
    const { feed, pass, reconnected, table, stop } = await keeperOn(parts);
    await parts.log.append(DEMO, opened('first'));
    await pass(60_000);
    parts.index.lose();
    reconnected();
    await feed.compare();
    await pass(60_000);
    expect(parts.index.kept.get('demo')?.entry.sequence).toBe(1);
    parts.log.remove(DEMO);
    reconnected();
    await feed.compare();
    await pass(0);
    expect([parts.index.kept.size, table.size]).toEqual([0, 0]);
    await stop();
  });
});
