import { beforeEach, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import { createSessionReader, createSnapshotWriter } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { SessionTable } from '../../../src/services/common/session-table.js';
import { SessionKeeper } from '../../../src/services/keeper/session-keeper.js';
import { createArchiver, importDone } from '../../../src/services/lifecycle/archive-session.js';
import { MemorySessionIndex } from '../../doubles/memory-session-index.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';

const DEMO = token('demo', 'session');
const AT = '2026-01-01T00:00:00.000Z';
const NOW = Date.parse('2026-02-01T00:00:00.000Z');
const IMPORTING = { at: AT, importing: { file: 'another', dispatches: 0, ready: false } };

let log: MemorySessionLog;
let lifecycle: MemorySessionLifecycle;

beforeEach(async () => {
  log = new MemorySessionLog();
  lifecycle = new MemorySessionLifecycle();
  await log.append(DEMO, { v: EVENT_VERSION, type: 'session.opened', at: AT, data: { goal: 'a' } });
});

const archived = () => log.append(DEMO, { v: EVENT_VERSION, type: 'session.archived', at: AT, data: {} });
const reopened = () => log.append(DEMO, { v: EVENT_VERSION, type: 'session.reopened', at: AT, data: {} });

function process() {
  const snapshots = new MemorySnapshotStore();
  const clock = () => AT;
  const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 9 });
  const writer = createSnapshotWriter({ snapshots, clock, logger: silentLogger, every: 9 });
  const parts = {
    ...{ log, reader, lifecycle, clock, newId: () => 'id', maxEventBytes: () => 1e6 },
  };
  return { reader, writer, archiver: createArchiver(parts) };
}

async function kept() {
  const [{ reader, writer }, now] = [process(), () => NOW];
  const times = { quietMs: 0, busyMs: 0, restMs: 60_000 };
  const [table, index] = [new SessionTable(now), new MemorySessionIndex()];
  const keeper = new SessionKeeper({
    ...{ table, reader, writer, index, lifecycle, logger: silentLogger, times, now },
  });
  keeper.moved(DEMO);
  await keeper.tick();
}

/** Writers of a session's record besides an import, with their preparation. */
const writers: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  'a session is archived': async () => {
    await archived();
    return () => process().archiver.settle(DEMO);
  },
  'a session is reopened': async () => {
    await archived();
    await lifecycle.change(DEMO, () => ({ at: AT }));
    await reopened();
    return () => process().archiver.settle(DEMO);
  },
  'the keeper closes a session again': async () => {
    await archived();
    return kept;
  },
  'another import of it ends': async () => {
    await lifecycle.change(DEMO, () => ({ at: AT, importing: { file: 'x', dispatches: 0, ready: true } }));
    return () =>
      lifecycle.change(
        DEMO,
        importDone((there) => there?.importing?.file === 'x', { at: AT }),
      );
  },
};

it.each(Object.entries(writers))('an import that begins while %s stays recorded', async (_, begin) => {
  const write = await begin();
  const before = (await log.read(DEMO, { after: 0 })).events.length;
  let wasBetween = false;
  lifecycle.between = async () => {
    wasBetween = true;
    await lifecycle.change(DEMO, (there) => ({ ...IMPORTING, at: there?.at ?? AT }));
  };

  await write();

  expect(wasBetween).toBe(true);
  expect(lifecycle.archived(DEMO)).toEqual({ v: 1, status: 'archived', ...IMPORTING });
  // The log is not truncated during the import either.
  expect((await log.read(DEMO, { after: 0 })).events).toHaveLength(before);
});

it('an import that begins while the keeper takes back its record stays recorded', async () => {
  await archived();
  const { change } = lifecycle;
  let changes = 0;
  lifecycle.change = async (session, decide) => {
    changes += 1;
    if (changes === 2) lifecycle.between = () => change.call(lifecycle, DEMO, () => IMPORTING);
    const isDone = await change.call(lifecycle, session, decide);
    if (changes === 1) await reopened();
    return isDone;
  };

  await kept();

  expect(changes).toBe(2);
  expect(lifecycle.archived(DEMO)).toEqual({ v: 1, status: 'archived', ...IMPORTING });
});

it('what a rule of retention recorded stays where the session is settled again', async () => {
  const data = { idle_since: '2025-06-01T00:00:00.000Z' };
  await log.append(DEMO, { v: EVENT_VERSION, type: 'session.archived', at: AT, data });
  await process().archiver.settle(DEMO);
  await process().archiver.settle(DEMO);

  expect(lifecycle.archived(DEMO)).toMatchObject({ at: AT, idle_since: '2025-06-01T00:00:00.000Z' });
});
