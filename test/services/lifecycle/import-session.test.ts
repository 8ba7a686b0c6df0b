import { beforeEach, describe, expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { checkpointOf } from '../../../src/memory/session/checkpoint.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { ImportedState } from '../../../src/memory/session/imported-state.js';
import { emptyState, type SessionState } from '../../../src/memory/session/session-state.js';
import { timelineEntry } from '../../../src/memory/session/timeline-entry.js';
import { checkedHandler } from '../../../src/services/common/service-shell.js';
import { asHistory, createSessionImport } from '../../../src/services/lifecycle/session-transfer.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, stored, timeOf } from '../../support/builders.js';

const DEMO = token('demo', 'session');
const HISTORY: readonly SessionEvent[] = [recorded(900, implementer()), recorded(901, implementer())];

function settled(): SessionState {
  const imported = new ImportedState();
  for (const each of stored(HISTORY)) imported.add(each);
  return imported.settled('demo');
}

const checkpointWith = (state: SessionState) => ({
  v: 1,
  type: 'session.checkpoint',
  at: timeOf(1),
  data: checkpointOf(state, 'imported', 2),
});

describe('session-import', () => {
  let log: MemorySessionLog;
  let snapshots: MemorySnapshotStore;
  let settles: number;
  let ask: (request: object) => ReturnType<ReturnType<typeof createSessionImport>>;

  beforeEach(() => {
    log = new MemorySessionLog();
    snapshots = new MemorySnapshotStore();
    settles = 0;
    const imports = createSessionImport({
      log,
      lifecycle: new MemorySessionLifecycle(),
      reader: createSessionReader({ log, snapshots, logger: silentLogger, maxCached: 9 }),
      archiver: {
        async settle() {
          settles += 1;
        },
      },
    });
    ask = (request) =>
      checkedHandler('tool.session-import', imports)({ session: 'demo', id: 'one', ...request });
  });

  const types = async () => (await log.read(DEMO, { after: 0 })).events.map(({ event }) => event.type);
  const checkpoint = checkpointWith(settled());

  it('an import begins the log with a checkpoint, and its history changes nothing', async () => {
    await ask({ checkpoint });
    await ask({ history: HISTORY });
    const { events } = await log.read(DEMO, { after: 0 });
    expect(events.map(({ event }) => event.type)).toEqual([
      'session.checkpoint',
      'session.history',
      'session.history',
    ]);
    const state = events.reduce(evolve, emptyState('demo'));
    expect(state.dispatches.current().counts).toMatchObject({ implementer: 2 });
    expect(state.dispatches.newest()).toBe(0);
  });

  it('an imported result is shown without its number, which a new one may have, and an erased one with it', async () => {
    await ask({ checkpoint });
    await ask({ history: HISTORY });
    const shown = (await log.read(DEMO, { after: 1 })).events.map(timelineEntry);
    expect(shown.map(({ type, dispatch }) => [type, dispatch])).toEqual([
      ['fact.recorded', undefined],
      ['fact.recorded', undefined],
    ]);
    const [result] = HISTORY;
    const erased = asHistory(result as SessionEvent, 7);
    expect(timelineEntry({ sequence: 9, event: erased })).toMatchObject({ dispatch: expect.any(Number) });
  });

  it('a second import of the same file is refused, and adds no history', async () => {
    await ask({ checkpoint });
    await ask({ history: HISTORY });
    await expect(ask({ id: 'two', checkpoint })).rejects.toMatchObject({ code: 'session_exists' });
    await expect(ask({ id: 'two', history: HISTORY })).rejects.toMatchObject({ code: 'session_exists' });
    expect(await types()).toHaveLength(3);
    expect(settles).toBe(1);
  });

  it('a session that exists is not replaced', async () => {
    await log.append(DEMO, recorded(1, implementer()));
    await expect(ask({ checkpoint })).rejects.toMatchObject({ code: 'session_exists' });
    expect(await types()).toEqual(['fact.recorded']);
  });

  it('a state whose dispatch numbers could hide new results is refused', async () => {
    const state = stored(HISTORY).reduce(evolve, emptyState('demo'));
    await expect(ask({ checkpoint: checkpointWith(state) })).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining('results that are not settled'),
    });
    expect(await types()).toEqual([]);
  });

  it('the history of an imported session is stored as it is when that is exported and imported again', async () => {
    await ask({ checkpoint });
    await ask({ history: HISTORY });
    const events = (await log.read(DEMO, { after: 0 })).events.map(({ event }) => event).slice(1);
    await ask({ session: 'copy', checkpoint });
    await ask({ session: 'copy', history: events });
    const copied = (await log.read(token('copy', 'session'), { after: 0 })).events.slice(1);
    expect(copied.map(({ event }) => event)).toEqual(events);
  });
});
