import { expect, test } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { RetentionRules } from '../../../src/contracts/lifecycle-record.js';
import { token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { sessionFigures } from '../../../src/memory/session/plan-status.js';
import { SessionTable } from '../../../src/services/common/session-table.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import { createArchiver } from '../../../src/services/lifecycle/archive-session.js';
import { createRetentionTools } from '../../../src/services/lifecycle/follow-retention.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { calling } from '../../support/calling.js';
import { keeperPorts, NOW, openedFor } from '../../support/forget-ports.js';
import { recordArchived, recordForgotten } from '../../support/lifecycle-records.js';

const OURS = token('ours', 'session');
const FORGET: RetentionRules = { v: 1, rules: [{ action: 'forget', after: '30d', at: NOW }] };

/** Follows these rules once, so many days later. */
async function followed(ports: ReturnType<typeof keeperPorts>, rules: RetentionRules, days = 31) {
  const now = () => Date.parse(NOW) + days * 86_400_000;
  const clock = () => new Date(now()).toISOString();
  await new LifecycleKeeper({ ...ports, now, clock, store: { rules: async () => rules } }).tick();
}

function idle() {
  const ports = keeperPorts(['ours'], { ours: 'parser' });
  const settled: string[] = [];
  ports.archiver.archive = async (session) => {
    settled.push(session);
    return true;
  };
  return { ports, settled };
}

test('a rule that forgets archives a session first', async () => {
  const { ports, settled } = idle();
  await followed(ports, FORGET);
  expect(settled).toEqual(['ours']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('an archived session that was reopened meanwhile is not forgotten by a rule', async () => {
  const { ports } = idle();
  await recordArchived(ports.lifecycle, OURS, { at: NOW });
  // Its record is behind: the log says that it is open.
  await followed(ports, FORGET);
  expect(ports.lifecycle.forgotten(OURS)).toBeUndefined();
});

async function archived() {
  const { ports, settled } = idle();
  await recordArchived(ports.lifecycle, OURS, { at: NOW });
  const { load } = ports.reader;
  ports.reader.load = async (session) => {
    const loaded = await load(session);
    loaded.folded.state.charter.archived = { at: NOW };
    return loaded;
  };
  return { ports, settled };
}

test('an archived session is forgotten once the time of its rule has passed again', async () => {
  const { ports } = await archived();
  await followed(ports, { v: 1, rules: [{ action: 'archive', after: '30d', at: NOW }] });
  expect(ports.lifecycle.forgotten(OURS)).toBeUndefined();
  await followed(ports, FORGET);
  expect(ports.lifecycle.forgotten(OURS)).toMatchObject({ status: 'forgetting' });
});

test('a rule leaves alone a session that has moved since the look, and one that is forgotten cannot be reopened', async () => {
  const log = new MemorySessionLog();
  const lifecycle = new MemorySessionLifecycle();
  await log.append(OURS, { v: EVENT_VERSION, type: 'session.opened', at: NOW, data: { goal: 'a' } });
  const reader = createSessionReader({
    log,
    snapshots: new MemorySnapshotStore(),
    logger: silentLogger,
    maxCached: 9,
  });
  const command = createCommander({ log, reader, clock: () => NOW, newId: () => 'id', random: () => 0 });
  const archiver = createArchiver({ log, reader, command, lifecycle, maxEventBytes: () => 1e6 });
  expect(await archiver.archive(OURS, 2, 'it moved since the look')).toBe(false);
  await recordForgotten(lifecycle, OURS, { at: NOW });
  await expect(archiver.settle(OURS)).rejects.toMatchObject({ code: 'session_forgotten' });
});

test('a session is due by the age of its last event, by the rule of its project before that of all', async () => {
  const DAY = 86_400_000;
  const now = () => Date.parse(NOW);
  const table = new SessionTable(now);
  const lifecycle = new MemorySessionLifecycle();
  const known = (session: string, project: string, days: number) => {
    const at = new Date(now() - days * DAY).toISOString();
    table.stored({ v: 1, sequence: 1, at, figures: sessionFigures(openedFor(session, project)) });
  };
  known('young', 'default', 29);
  known('old', 'default', 31);
  known('kept', 'keeps', 400);
  known('other', 'archives', 91);
  known('shut', 'default', 31);
  known('closed', 'archives', 91);
  table.moved(token('unread', 'session'));
  for (const name of ['shut', 'closed']) await recordArchived(lifecycle, token(name, 'session'), { at: NOW });
  let stored: RetentionRules = { v: 1, rules: [] };
  const store = {
    rules: async () => stored,
    changeRules: async (next: (before: RetentionRules) => RetentionRules) => {
      stored = next(stored);
      return stored;
    },
  };
  const tools = createRetentionTools({
    table,
    lifecycle,
    now,
    store,
    clock: () => NOW,
    logger: silentLogger,
    caughtUp: async () => {},
  });
  const set = (rule: object) => calling(tools)('retention-set', rule);
  expect(await set({ action: 'forget', after: '30d', dryRun: true })).toMatchObject({
    archive: 3,
    forget: 2,
  });
  expect(stored.rules).toEqual([]);
  await set({ action: 'forget', after: '30d' });
  await set({ action: 'keep', project: 'keeps' });
  await set({ action: 'archive', after: '10d', project: 'archives' });
  expect(await set({ action: 'archive', after: '90d', project: 'archives' })).toMatchObject({
    archive: 2,
    forget: 1,
    rules: [{ action: 'forget' }, { project: 'keeps' }, { after: '90d' }],
  });
  expect(await set({ action: 'remove' })).toMatchObject({ archive: 1, forget: 0 });
});
