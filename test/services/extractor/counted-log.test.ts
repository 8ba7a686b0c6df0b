import { expect, it } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { CountedLog } from '../../../src/services/extractor/counted-log.js';
import { encodeSnapshot } from '../../../src/session/session-snapshot.js';
import { emptyState } from '../../../src/session/session-state.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { implementer, recorded, timeOf } from '../../support/builders.js';

const SESSION = token('moved', 'session');
/** Sequences of a log that took the place of another one are above this. */
const ABOVE = 1000;

it('a log that took the place of another one is read whole, also where the newest snapshot is of the other one', async () => {
  const log = new MemorySessionLog({ sequenceStep: ABOVE });
  const snapshots = new MemorySnapshotStore();
  // As a session gets it that had none before it was moved.
  const text = encodeSnapshot({ ...emptyState(SESSION), sequence: ABOVE - 1 }, timeOf(1));
  await snapshots.save(SESSION, { sequence: ABOVE - 1, text });
  for (const dispatch of [1, 2]) await log.append(SESSION, recorded(dispatch, implementer()));
  const read: MemorySessionLog['read'] = async (session, range) => ({
    ...(await log.read(session, range)),
    epoch: 'the other one',
    ...(range.after > 0 && range.after < ABOVE && { restart: true }),
  });
  const counted = new CountedLog({ log: { read }, snapshots }, SESSION);
  const looked = await Promise.all([1, 2, 3].map((dispatch) => counted.look(dispatch)));
  expect(looked.map(({ counted: has }, at) => has.has(at + 1))).toEqual([true, true, false]);
  expect(looked[0]?.through).toBe(2 * ABOVE);
});
