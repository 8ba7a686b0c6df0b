import { describe, expect, it } from 'vitest';
import type { TaskLedger } from '../../src/ledger/task-ledger.js';
import { WINDOW_LENGTH } from '../../src/memory/session/dispatch-window.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { decodeSnapshot } from '../../src/memory/session/session-snapshot.js';
import { DEFAULT_LIMITS, emptyState, type SessionState } from '../../src/memory/session/session-state.js';
import { folded, foldedInOrder } from '../memory/session/arrivals.js';
import { implementer, recorded, reviewer, stored } from '../support/builders.js';
import { progressRebuilt, progressTask, runInitialized } from '../support/ledgers.js';
import { bytes, restored } from '../support/snapshots.js';

function ledgers(state: SessionState): string {
  return JSON.stringify([...state.dispatches.current().ledgers.values()]);
}

function ledgersOf(state: SessionState): TaskLedger[] {
  return [...state.dispatches.current().ledgers.values()];
}

describe('the ledgers of a snapshot', () => {
  it('the ledgers of a snapshot are read by their known keys: unknown ones are ignored', () => {
    const state = foldedInOrder(
      Array.from({ length: WINDOW_LENGTH + 2 }, (_, index) => recorded(index + 1, reviewer())),
      DEFAULT_LIMITS,
    );
    const text = bytes(state);
    const strange = text.replace('"planVersion":', '"gossip":{"a":[1]},"planVersion":');
    expect(strange).not.toBe(text);
    expect(bytes(restored(strange))).toBe(text);
    expect(ledgers(restored(strange))).toBe(ledgers(state));
  });

  it('the ledgers of a snapshot are rejected with a missing or a wrong key', () => {
    const many = Array.from({ length: WINDOW_LENGTH + 2 }, (_, index) => recorded(index + 1, reviewer()));
    const text = bytes(foldedInOrder(many, DEFAULT_LIMITS));
    for (const wrong of [
      text.replace(/"planVersion":\d+,/, ''),
      text.replace(/"planVersion":\d+/, '"planVersion":"2"'),
      text.replace(/("last":.{0,200}"verdict":)"needs_changes"/, '$1"yawned"'),
    ]) {
      expect(wrong).not.toBe(text);
      expect(decodeSnapshot('demo', wrong)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('state.settled.ledgers.0.'),
      });
    }
  });
});

describe('a dispatch', () => {
  const review = recorded(2, reviewer({ required_fixes: ['a'] }));
  const approval = recorded(3, reviewer({ assessment: 'approved' }));
  const ledger = (events: readonly ReturnType<typeof recorded>[]) =>
    foldedInOrder(events, DEFAULT_LIMITS).dispatches.current().ledgers.get('1');

  it('a dispatch that came later than the window does not undo what a later one settled either', () => {
    const others = Array.from({ length: WINDOW_LENGTH + 5 }, (_, index) =>
      recorded(index + 10, implementer({ task_id: 'other' })),
    );
    const late = ledger([approval, ...others, review, review]);
    expect(late).toMatchObject({
      assessment: 'approved',
      requiredFixes: [],
      last: { sequence: 3, role: 'reviewer', verdict: 'approved' },
      dispatches: 2,
      approvalLoops: 1,
      stalled: false,
    });
  });

  it('a dispatch of one task does not touch another task', () => {
    const other = recorded(4, reviewer({ task_id: '2', assessment: 'blocked' }));
    expect(ledger([review, approval, other])).toEqual(ledger([review, approval]));
  });
});

describe('ledgers of very many tasks', () => {
  const events = Array.from({ length: 400 }, (_, index) =>
    recorded(index + 1, implementer({ task_id: `t${index % 350}` })),
  );

  it('the ledgers of very many tasks are those of the 300 most recent ones', () => {
    const tasks = ledgersOf(foldedInOrder(events, DEFAULT_LIMITS)).map(({ task }) => task);
    expect(tasks).toHaveLength(300);
    expect(tasks).toEqual([
      ...Array.from({ length: 250 }, (_, index) => `t${index + 100}`),
      ...Array.from({ length: 50 }, (_, index) => `t${index}`),
    ]);
  });
});

describe('a run', () => {
  it('a run is what the newest run.init says, with what was read last', () => {
    const rebuilt = progressRebuilt([progressTask('9')], 'c'.repeat(16));
    const state = folded(stored([runInitialized([progressTask('1')]), rebuilt]), DEFAULT_LIMITS);
    expect(state.run).toMatchObject({
      spec: 'parser',
      goal: 'a parser that never throws',
      source: { path: '/specs/tasks.md' },
      document: { fingerprint: { hash: 'c'.repeat(16) }, tasks: [{ id: '9' }] },
    });
    expect(
      folded(stored([rebuilt, runInitialized([progressTask('1')])]), DEFAULT_LIMITS).run?.document.tasks,
    ).toMatchObject([{ id: '1' }]);
  });

  it('a run is not made by a rebuilt document alone', () => {
    const state = evolve(emptyState('demo'), { sequence: 1, event: progressRebuilt([], 'd'.repeat(16)) });
    expect(state.run).toBeUndefined();
    expect(state.sequence).toBe(1);
  });
});
