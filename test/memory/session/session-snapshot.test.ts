import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/contracts/session-events.js';
import { WINDOW_LENGTH } from '../../../src/memory/session/dispatch-window.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { decodeSnapshot } from '../../../src/memory/session/session-snapshot.js';
import {
  DEFAULT_LIMITS,
  emptyState,
  factsOf,
  ledgersOf,
  rejectionsOf,
  type SessionLimits,
  type SessionState,
} from '../../../src/memory/session/session-state.js';
import { implementer, recorded, rejected, reviewer, stored } from '../../support/builders.js';
import { runInitialized } from '../../support/ledgers.js';
import * as fc from '../../support/properties.js';
import { bytes, restored, SNAPSHOT_AT } from '../../support/snapshots.js';
import { folded, jittered, permuted, said } from './arrivals.js';

/** Number of events. */
const LONG = 30;
/** Folds the events, and at every cut checks its snapshot, and that with the tail it gives what the whole log gives. */
function expectEveryCutToAgree(events: readonly StoredEvent[], limits: SessionLimits): void {
  const whole = folded(events, limits);
  const [end, saidAtEnd] = [bytes(whole), said(whole)];
  const state = emptyState('demo', limits);
  for (let cut = 0; cut <= events.length; cut += 1) {
    const text = bytes(state);
    const loaded = restored(text);
    expect(bytes(loaded)).toBe(text);
    // Of a long log every seventh tail is enough: each is nearly as long as the log.
    if (events.length <= LONG || cut % 7 === 0 || cut > events.length - LONG) {
      for (const event of events.slice(cut)) evolve(loaded, event);
      expect(bytes(loaded)).toBe(end);
      // Not in the snapshot, but made from it: what a prompt is compiled from.
      expect(said(loaded)).toEqual(saidAtEnd);
    }
    for (const event of events.slice(cut, cut + 1)) evolve(state, event);
  }
}

describe('the view of a snapshot', () => {
  const viewOf = (state: SessionState) => JSON.parse(bytes(state)).view;
  const review = reviewer({
    task_id: '1',
    assessment: 'needs_changes',
    issues: [{ severity: 'critical', message: 'Leaks a handle', file: 'src/a.ts' }],
    required_fixes: ['Close the file'],
  });
  const asks = {
    task_id: '2',
    status: 'blocked' as const,
    blockers: [],
    questions: [{ text: 'Which port?' }],
  };
  const done = { task_id: '1', summary: 'Parser done', files_modified: ['src/a.ts'] };

  it('the view says in words what readers see, although the newest results still wait in the window', () => {
    const events = [recorded(1, implementer(done)), recorded(2, review), recorded(3, implementer(asks))];
    const state = folded(stored(events), DEFAULT_LIMITS);
    expect(JSON.parse(bytes(state)).state.facts).toEqual([]);
    expect(viewOf(state)).toMatchObject({
      status: 'open',
      results: 3,
      facts: expect.any(Number),
      waiting: ['task 2 asks: Which port?'],
      open_findings: ['Close the file (must fix, task 1)', 'src/a.ts: Leaks a handle (critical, task 1)'],
      newest_facts: expect.arrayContaining(['task:1 summary Parser done (task 1)']),
    });
    expect(JSON.stringify(viewOf(state).newest_facts)).not.toContain('modified_by');
  });

  it('the view has at most 4 KB, however much there is to say', () => {
    const long = (index: number) => `${index} ${'✓'.repeat(290)}`;
    const events = Array.from({ length: 30 }, (_, index) =>
      recorded(
        index + 1,
        implementer({ task_id: String(index), summary: long(index), questions: [{ text: long(index) }] }),
      ),
    );
    const view = viewOf(folded(stored(events), DEFAULT_LIMITS));
    expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThanOrEqual(4096);
    expect(view).toMatchObject({ results: 30 });
    expect(view.waiting.length).toBeGreaterThan(0);
  });
});

describe('snapshot and tail', () => {
  it('snapshot and tail are the full replay with results from before the session', () => {
    const past = (sequence: number) =>
      recorded(sequence, implementer({ task_id: `old-${sequence % 3}`, history: true }));
    const now = (sequence: number) => recorded(sequence, implementer({ task_id: `new-${sequence % 3}` }));
    const events = stored(
      [1, 2, 3, 4, 5, 6].map((sequence) => (sequence % 2 === 0 ? now(sequence) : past(sequence))),
    );
    expectEveryCutToAgree(events, DEFAULT_LIMITS);
    expect([...folded(events, DEFAULT_LIMITS).dispatches.current().ledgers.keys()]).toEqual([
      'new-2',
      'new-1',
      'new-0',
    ]);
  });

  it('snapshot and tail are the full replay with a plan that is left, and results for an id with other words', () => {
    const task = { id: 'T001~2', text: 'Deploy', written: 'T001', status: 'pending' as const };
    const ended = { ...runInitialized([]), type: 'run.ended' as const, data: {} };
    const returned = implementer({ task_id: 'T001', blockers: ['Which cloud?'] });
    const refused = rejected(3, { role: 'reviewer', task: 'T001' });
    const events = stored([
      runInitialized([task]),
      recorded(1, returned),
      refused,
      ended,
      recorded(4, returned),
    ]);
    expectEveryCutToAgree(events, DEFAULT_LIMITS);
    const state = folded(events, DEFAULT_LIMITS);
    expect(state.left).toEqual([{ id: 'T001~2', written: 'T001', text: 'Deploy' }]);
    expect([...ledgersOf(state).keys()]).toEqual(['T001~2', 'T001']);
    expect(rejectionsOf(state)).toMatchObject([{ task: 'T001~2' }]);
    const blockers = factsOf(state)
      .all()
      .filter(({ object }) => object === 'Which cloud?');
    expect(blockers.map(({ subject, sourceTaskId }) => [subject, sourceTaskId])).toEqual([
      ['task:T001~2', 'T001~2'],
      ['task:T001', 'T001'],
    ]);
  });

  it('snapshot and tail agree on what ends beyond the limit: follow-ups, then what agents found, and no rule', () => {
    const stating = (sequence: number, result: object, refs: Record<string, string[]>) => {
      const event = recorded(sequence, implementer({ task_id: `${sequence}`, ...result }));
      return { ...event, data: { ...event.data, refs } };
    };
    const said = (relation: string, object: string) => ({ subject: object, relation, object });
    const decided = Array.from({ length: 38 }, (_, n) => said('decided', `port ${n}`));
    const events = stored([
      stating(
        1,
        { facts: [said('convention', 'no legacy'), said('found', 'no docker')] },
        { convention: ['M1'], found: ['M1.2'] },
      ),
      stating(2, { follow_up_actions: ['write the docs'] }, { requires: ['M2'] }),
      stating(3, { facts: decided }, { decided: decided.map((_, n) => `M3.${n}`) }),
      stating(4, { facts: [said('decided', 'one host')] }, { decided: ['M4'] }),
    ]);
    const limits = { ...DEFAULT_LIMITS, maxFacts: 40 };
    expectEveryCutToAgree(events, limits);
    const ended = factsOf(folded(events, limits))
      .all()
      .filter(({ validTo }) => validTo !== undefined);
    expect(
      ended.map(({ ref, ended, closedBy }) => `${ref} ${ended?.how} by ${ended?.by}, result ${closedBy}`),
    ).toEqual([
      'M1.2 evicted by the limit of 40 statements, result 3',
      'M2 evicted by the limit of 40 statements, result 3',
    ]);
  });

  it.each([DEFAULT_LIMITS, { ...DEFAULT_LIMITS, maxFacts: 12 }])(
    'snapshot and tail are the full replay at every cut, byte for byte: %j',
    (limits) => {
      fc.assert(
        fc.property(permuted(12), ({ arrived }) => expectEveryCutToAgree(stored(arrived), limits)),
        { numRuns: 25 },
      );
    },
  );

  it.each([DEFAULT_LIMITS, { ...DEFAULT_LIMITS, maxFacts: 20 }])(
    'snapshot and tail are the full replay beyond the window too: %j',
    (limits) => {
      const late = fc.tuple(jittered(WINDOW_LENGTH + 12), permuted(3)).map(([jitter, { arrived }]) =>
        // The last ones repeat the oldest sequences: some known, some later than the window.
        stored([...jitter.arrived.slice(3), ...arrived]),
      );
      fc.assert(
        fc.property(late, (events) => expectEveryCutToAgree(events, limits)),
        { numRuns: 2 },
      );
    },
  );
});

const EVENTS = stored([
  recorded(3, reviewer({ required_fixes: ['a', 'b'] })),
  recorded(5, implementer({ files_modified: ['src/a.ts'], summary: 'line one\nline two\u2028' })),
  rejected(6),
  recorded(9, reviewer({ assessment: 'approved' })),
]);

describe('the text of a snapshot', () => {
  const text = bytes(folded(EVENTS, DEFAULT_LIMITS));

  it('the text of a snapshot is one line of after_sequence, created_at, session, view, v, last_command and state, in that order', () => {
    expect(text).not.toMatch(/[\n\r\u2028\u2029]/);
    expect(Object.keys(JSON.parse(text))).toEqual([
      ...['after_sequence', 'created_at', 'session', 'view', 'v', 'last_command', 'state'],
    ]);
    const head = `{"after_sequence":4,"created_at":"${SNAPSHOT_AT}","session":"demo","view":{"status":"open","results":`;
    expect(text.startsWith(head)).toBe(true);
    expect(text).toContain('},"v":1,"last_command":0,"state":{"limits":');
  });

  it('the text of a snapshot says when it was made, and is of no use to another session', () => {
    const decoded = decodeSnapshot('demo', text);
    expect(decoded).toMatchObject({
      ok: true,
      createdAt: SNAPSHOT_AT,
      state: { session: 'demo', sequence: 4 },
    });
    expect(decodeSnapshot('elsewhere', text)).toEqual({ ok: false, reason: 'it belongs to session demo' });
  });

  it('the text of a snapshot does not change with a state that moves on', () => {
    const state = folded(EVENTS, DEFAULT_LIMITS);
    const before = bytes(state);
    const copy = restored(before);
    evolve(state, { sequence: 5, event: recorded(10, implementer()) });
    expect(bytes(copy)).toBe(before);
    expect(bytes(state)).not.toBe(before);
  });
});

describe('a snapshot that cannot be used', () => {
  const whole = bytes(folded(EVENTS, DEFAULT_LIMITS));
  const changed = (change: (parsed: Record<string, unknown>) => object) =>
    JSON.stringify(change(JSON.parse(whole)));

  it.each([
    ['cut off', whole.slice(0, -5), 'not JSON'],
    ['empty', '', 'not JSON'],
    ['of no session', changed(({ session: _, ...parsed }) => parsed), 'session: '],
    ['of a later version', changed((parsed) => ({ ...parsed, v: 4 })), 'v: '],
    ['without a version', changed(({ v: _, ...parsed }) => parsed), 'v: '],
    [
      'with a negative sequence',
      changed((parsed) => ({ ...parsed, after_sequence: -1 })),
      'after_sequence: ',
    ],
    [
      'with a text for a sequence',
      changed((parsed) => ({ ...parsed, after_sequence: '4' })),
      'after_sequence: ',
    ],
    ['without a state', changed(({ state: _, ...parsed }) => parsed), 'state: '],
    ['with another state', changed((parsed) => ({ ...parsed, state: { facts: [] } })), 'state.limits: '],
    [
      'with an unknown tag',
      whole.replace('"decision"', '"gossip"'),
      'state.window.recent.0.facts.0.tags.0: ',
    ],
    [
      'with keys of results that are cut off',
      whole.replace('"results":""', '"results":"abc"'),
      'state.results: must be keys of 12 characters',
    ],
    ['with an unknown kind', whole.replace('"recorded"', '"dreamt"'), 'state.window.recent.0.kind: '],
  ])('a snapshot that cannot be used is refused with the reason: %s', (_what, text, reason) => {
    expect(decodeSnapshot('demo', text)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  it.each(['null', '[]', '7', '"text"'])('a snapshot is refused when it is %s', (text) => {
    expect(decodeSnapshot('demo', text)).toMatchObject({ ok: false, reason: expect.stringMatching(/\w/) });
  });
});
