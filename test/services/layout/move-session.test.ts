import { expect, it } from 'vitest';
import type { Token } from '../../../src/contracts/names.js';
import { canonicalLog } from '../../../src/folding/log-copy.js';
import { createSessionReader } from '../../../src/folding/session-folding.js';
import { silentLogger } from '../../../src/ports/logger.js';
import { arrive, copyMissing, type SessionMove } from '../../../src/services/layout/move-session.js';
import { encodeSnapshot } from '../../../src/session/session-snapshot.js';
import { stateToJson } from '../../../src/session/session-state-json.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';
import { noteAdded } from '../../support/generated-logs.js';

const SESSION = 'demo' as Token;
const clock = () => timeOf(1);

/** A session on its way; in the new place all sequences are above those of the old one. */
function onItsWay() {
  const from = new MemorySessionLog();
  const to = new MemorySessionLog({ sequenceStep: 10_000 });
  const snapshots = new MemorySnapshotStore();
  const move: SessionMove = { session: SESSION, from, to, clear: () => Promise.reject(new Error('cleared')) };
  const stateIn = async (log: MemorySessionLog) => {
    const reader = createSessionReader({ log, snapshots, logger: silentLogger, maxSessions: 1 });
    return (await reader.load(SESSION)).folded.state;
  };
  const save = async () => {
    const state = await stateIn(from);
    await snapshots.save(SESSION, { sequence: state.sequence, text: encodeSnapshot(state, timeOf(1)) });
  };
  return { from, to, snapshots, move, stateIn, save, arrived: () => arrive(move, { snapshots, clock }) };
}

/** What people see of a state, wherever its events stand. */
const seen = (state: Parameters<typeof stateToJson>[0]) => {
  const { counts, tasks, notes, last_event_at } = stateToJson(state);
  return { counts, tasks, notes, last_event_at };
};

it('a session that arrives has a snapshot of its new sequences, and none of the old ones can come again', async () => {
  const { from, to, snapshots, stateIn, save, arrived } = onItsWay();
  for (let at = 1; at <= 30; at += 1) await from.append(SESSION, recorded(at, implementer()));
  await save();
  const old = await snapshots.load(SESSION);
  await from.append(SESSION, noteAdded(1), { expectedSequence: 30 });
  const before = seen(await stateIn(from));
  await arrived();
  expect(seen(await stateIn(to))).toEqual(before);
  expect((await snapshots.load(SESSION))?.sequence).toBe(310_000);
  expect(old && (await snapshots.save(SESSION, old))).toBe('older');
});

it('a session that had no snapshot gets one that holds nothing, below its first event', async () => {
  const { from, to, snapshots, stateIn, save, arrived } = onItsWay();
  await from.append(SESSION, recorded(1, implementer()));
  const before = seen(await stateIn(from));
  await arrived();
  expect((await snapshots.load(SESSION))?.sequence).toBe(9999);
  expect(seen(await stateIn(to))).toEqual(before);
  // A process that still saw it in the old place.
  await save();
  expect((await snapshots.load(SESSION))?.sequence).toBe(9999);
  // Cut short before it counted as moved, it arrives again.
  await arrived();
  expect(seen(await stateIn(to))).toEqual(before);
});

it('a session whose first events are gone brings what its snapshot knows', async () => {
  const { from, to, stateIn, save, arrived } = onItsWay();
  for (let at = 1; at <= 600; at += 1) await from.append(SESSION, recorded(at, implementer()));
  await from.append(SESSION, noteAdded(1), { expectedSequence: 600 });
  await save();
  await from.append(SESSION, recorded(700, implementer()));
  // Decided before the snapshot, with no command in between.
  await from.append(SESSION, noteAdded(2), { decidedOn: 601 });
  await from.append(SESSION, noteAdded(3), { decidedOn: 300 });
  for (let at = 701; at <= 1300; at += 1) await from.append(SESSION, recorded(at, implementer()));
  await from.removeBefore(SESSION, 400);
  const before = seen(await stateIn(from));
  await arrived();
  expect(seen(await stateIn(to))).toEqual(before);
  expect((await to.read(SESSION, { after: 0, limit: 1 })).events).toMatchObject([
    { event: { type: 'session.checkpoint', data: { reason: 'truncated' } } },
  ]);
  const text = (await canonicalLog(to, SESSION)).text();
  await arrived();
  expect((await canonicalLog(to, SESSION)).text()).toBe(text);
});

/** As where a replica answers that lags behind: it shows what it has been told of, and no more. */
function lagging(log: MemorySessionLog): SessionMove['to'] {
  let shown = 0;
  return {
    read: (session, range) =>
      log.read(session, { ...range, through: Math.min(shown, range.through ?? shown) }),
    async append(session, event, options) {
      const appended = await log.append(session, event, options);
      if (appended.outcome === 'appended') shown = Math.max(shown, appended.sequence);
      return appended;
    },
    async newest(session) {
      shown = await log.newest(session);
      return shown;
    },
  };
}

it('a session is moved whole where replicas lag behind, in the old place and in the new one', async () => {
  const { from, to, move, snapshots, stateIn } = onItsWay();
  for (let at = 1; at <= 20; at += 1) await from.append(SESSION, recorded(at, implementer()));
  // Another process copied these, and was killed.
  await copyMissing(move);
  await from.append(SESSION, recorded(21, implementer()));
  const before = seen(await stateIn(from));
  await arrive({ ...move, from: lagging(from), to: lagging(to) }, { snapshots, clock });
  expect(seen(await stateIn(to))).toEqual(before);
  expect((await to.read(SESSION, { after: 0 })).events).toHaveLength(21);
});
