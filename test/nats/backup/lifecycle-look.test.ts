import { describe, expect, it } from 'vitest';
import { type LifecycleRecord, lifecycleRecord } from '../../../src/contracts/lifecycle-record.js';
import { archivedKey, forgottenKey, token } from '../../../src/contracts/names.js';
import { type LifecycleLook, lifecycleChanges } from '../../../src/nats/backup/lifecycle-look.js';

const DEMO = token('demo', 'session');
const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:02.000Z';
const NOTHING = { sessions: [], isArchiving: true, forgetting: [], isForgotten: false };

type Stored = readonly [key: string, json: object | undefined];

/** Returns the records stored one by one from a sequence on; `undefined` is a deletion marker. */
function look(from: number, ...stored: readonly Stored[]): LifecycleLook {
  const records = new Map(
    stored.map(([key, json], at) => {
      const record: LifecycleRecord | undefined = json && lifecycleRecord(key, json);
      return [key, { sequence: from + at, record }];
    }),
  );
  return { records, newest: stored.length === 0 ? 0 : from + stored.length - 1 };
}

const demo = (more: object | undefined): Stored => [
  archivedKey(DEMO),
  more && { v: 1, status: 'archived', at: AT, ...more },
];
const forgotten = (more: object): Stored => [
  forgottenKey(DEMO),
  { v: 1, at: AT, dispatches: 0, sequence: 0, ...more },
];
describe('what has become of sessions between two looks', () => {
  it('records that are the same, or were stored again, change nothing', () => {
    expect(lifecycleChanges(look(1), look(1))).toEqual(NOTHING);
    expect(lifecycleChanges(look(1, demo({})), look(50, demo({})))).toEqual(NOTHING);
    const [forgetting, settled] = [
      forgotten({ status: 'forgetting', session: DEMO }),
      forgotten({ status: 'forgetting', session: DEMO, at: LATER, settled: true, sequence: 7 }),
    ];
    expect(lifecycleChanges(look(1, forgetting), look(2, settled))).toEqual(NOTHING);
  });

  it('a session that was archived or opened again is told apart from one that came from elsewhere', () => {
    expect(lifecycleChanges(look(1), look(1, demo({})))).toEqual({ ...NOTHING, sessions: [DEMO] });
    expect(lifecycleChanges(look(1, demo({})), look(2, demo(undefined)))).toEqual({
      ...NOTHING,
      sessions: [DEMO],
    });
    // Recorded and removed in between: perhaps by an import.
    expect(lifecycleChanges(look(1), look(2, demo(undefined)))).toMatchObject({
      sessions: [DEMO],
      isArchiving: false,
    });
    expect(lifecycleChanges(look(1, demo(undefined)), look(1, demo(undefined)))).toEqual(NOTHING);
  });

  it('a session that begins to be forgotten, and one that was forgotten, are told', () => {
    const begun = forgotten({ status: 'forgetting', session: DEMO });
    const done = forgotten({ status: 'forgotten' });
    expect(lifecycleChanges(look(1), look(1, begun))).toMatchObject({
      forgetting: [DEMO],
      isForgotten: false,
    });
    for (const before of [look(1), look(1, begun)])
      expect(lifecycleChanges(before, look(5, done))).toMatchObject({ isForgotten: true });
    expect(lifecycleChanges(look(1, done), look(5, done))).toEqual(NOTHING);
    expect(
      lifecycleChanges(look(1, done), look(5, forgotten({ status: 'forgotten', at: LATER }))),
    ).toMatchObject({
      isForgotten: true,
    });
  });
});
