import { expect, it, vi } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger, systemClock } from '../../../src/engine/ports/clients.js';
import type { SessionLog } from '../../../src/engine/ports/session-log.js';
import { encodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS, emptyState } from '../../../src/memory/session/session-state.js';
import { SessionProjects } from '../../../src/services/learnings/learner.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded } from '../../support/builders.js';

const SESSION = token('demo', 'session');

const opened = (data: Extract<SessionEvent, { type: 'session.opened' }>['data']): SessionEvent => ({
  v: EVENT_VERSION,
  type: 'session.opened',
  at: systemClock(),
  data,
});

/** Returns the projects of sessions in a log that can be removed, and a count of folds per session. */
function projects() {
  let memory = new MemorySessionLog();
  let epoch = 1;
  const log: SessionLog = {
    append: (...args) => memory.append(...args),
    read: async (...args) => ({ ...(await memory.read(...args)), epoch: String(epoch) }),
    watch: (...args) => memory.watch(...args),
    sessions: () => memory.sessions(),
  };
  const snapshots = new MemorySnapshotStore();
  const sessions = createSessionReader({
    log,
    snapshots,
    limits: DEFAULT_LIMITS,
    logger: silentLogger,
    maxCached: 10,
  });
  const load = vi.spyOn(sessions, 'load');
  const known = new SessionProjects({ log, sessions, maxKnown: 10 });
  const removeLog = () => {
    memory = new MemorySessionLog();
    epoch += 1;
  };
  return { log, snapshots, load, removeLog, projectOf: () => known.projectOf(SESSION) };
}

it('a session is folded for its project once, and again for each opening', async () => {
  const { log, load, projectOf } = projects();
  expect(await projectOf()).toBe('default');
  await log.append(SESSION, recorded(1, implementer()));
  await log.append(SESSION, opened({ project: 'shop' }));
  expect(await projectOf()).toBe('shop');
  await log.append(SESSION, opened({ goal: 'Sell more' }));
  expect(await projectOf()).toBe('shop');
  await log.append(SESSION, opened({ project: 'bank' }));
  await log.append(SESSION, recorded(2, implementer()));
  expect(await projectOf()).toBe('bank');
  expect(load).toHaveBeenCalledTimes(4);
});

it('the project of a session whose log is gone is known from its snapshot', async () => {
  const { log, snapshots, load, removeLog, projectOf } = projects();
  const state = emptyState(SESSION, DEFAULT_LIMITS);
  state.sequence = 1;
  state.charter.project = 'shop';
  await snapshots.save(SESSION, { sequence: 1, text: encodeSnapshot(state, systemClock()) });
  expect(await projectOf()).toBe('shop');
  removeLog();
  expect(await projectOf()).toBe('shop');
  expect(load).toHaveBeenCalledTimes(2);
  await log.append(SESSION, opened({ goal: 'The same' }));
  expect(await projectOf()).toBe('shop');
});
