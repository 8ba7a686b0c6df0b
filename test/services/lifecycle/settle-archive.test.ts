import { expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { createArchiver } from '../../../src/services/lifecycle/archive-session.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';

const DEMO = token('demo', 'session');
const AT = '2026-01-01T00:00:00.000Z';

it('the record of a rule of retention stays when the session is settled again', async () => {
  const log = new MemorySessionLog();
  const lifecycle = new MemorySessionLifecycle();
  await log.append(DEMO, { v: EVENT_VERSION, type: 'session.opened', at: AT, data: { goal: 'a' } });
  const data = { idle_since: '2025-06-01T00:00:00.000Z' };
  await log.append(DEMO, { v: EVENT_VERSION, type: 'session.archived', at: AT, data });
  const settle = () => {
    const parts = { log, snapshots: new MemorySnapshotStore(), logger: silentLogger };
    const reader = createSessionReader({ ...parts, maxCached: 9 });
    const archiver = { log, reader, lifecycle, clock: () => AT, newId: () => 'id', maxEventBytes: () => 1e6 };
    return createArchiver(archiver).settle(DEMO);
  };
  await settle();
  await settle();

  expect(lifecycle.archived(DEMO)).toMatchObject({ at: AT, idle_since: '2025-06-01T00:00:00.000Z' });
});
