import { describe, expect, it } from 'vitest';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import type { SessionEvent, StoredEvent } from '../../../src/contracts/session-events.js';
import {
  ACTION_TYPES,
  RESULT_STATUSES,
  TRACE_STATES,
  type TraceEntryInput,
} from '../../../src/contracts/trace-entry.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import {
  DEFAULT_LIMITS,
  emptyState,
  type SessionState,
  tracesOf,
} from '../../../src/memory/session/session-state.js';
import { tracesToJson } from '../../../src/memory/traces/session-traces.js';
import { implementer, recorded, reviewer, stored, timeOf } from '../../support/builders.js';
import * as fc from '../../support/properties.js';
import { bytes, restored } from '../../support/snapshots.js';
import { folded } from '../session/arrivals.js';
import { recordedOf, step, steps } from './compaction-entries.js';

function appended(entries: readonly TraceEntryInput[], malformed = 0): SessionEvent {
  const data = { entries: entries.map(recordedOf), malformed };
  return { v: EVENT_VERSION, type: 'trace.appended', at: timeOf(1), data };
}

function foldedFrom(events: readonly SessionEvent[], limits = DEFAULT_LIMITS): SessionState {
  return folded(stored(events), limits);
}

const traceIn = (state: SessionState, intent = 'INT-1') => tracesOf(state).intents.get(intent);

describe('trace entries in the fold', () => {
  it('trace entries without an intent, and malformed ones, are counted and no more', () => {
    const state = foldedFrom([
      appended([step(1, { intent_id: null }), step(2)], 3),
      appended([step(3, { intent_id: null })], 1),
    ]);
    expect(tracesOf(state)).toMatchObject({ withoutIntent: 2, malformed: 4 });
    expect([...tracesOf(state).intents.keys()]).toEqual(['INT-1']);
  });

  it('trace entries of more intents than are remembered push out the one that rested longest', () => {
    const names = Array.from({ length: 40 }, (_, index) => `INT-${index}`);
    const events = names.map((intent_id, index) => appended([step(index, { intent_id })]));
    const busy = events.flatMap((event, index) => [event, appended([step(1000 + index)])]);
    const state = foldedFrom([appended([step(999)]), ...busy]);
    expect(tracesOf(state).intents.size).toBe(12);
    expect(traceIn(state)?.total).toBe(42);
    expect([...tracesOf(state).intents.keys()].slice(-3)).toEqual(['INT-38', 'INT-39', 'INT-1']);
    expect(traceIn(state, 'INT-5')).toBeUndefined();
  });
});

describe('dispatches that name an intent', () => {
  const done = (sequence: number, more: object = {}) =>
    recorded(sequence, implementer({ intent_id: 'INT-1', ...more }));

  it('dispatches that name an intent count as entries', () => {
    const state = foldedFrom([
      done(3, { task_id: '2.1', summary: 'wrote the parser', files_modified: ['src/parser.ts'] }),
      done(5, { status: 'blocked', summary: 'no grammar' }),
      recorded(7, reviewer({ assessment: 'approved', intent_id: 'INT-1' })),
      recorded(9, reviewer({ assessment: 'needs_changes', intent_id: 'INT-1' })),
      recorded(11, implementer({ summary: 'for no intent' })),
    ]);
    expect(traceIn(state)?.recent).toMatchObject([
      {
        id: 'dispatch:3',
        tool: 'implementer',
        status: 'SUCCESS',
        files: ['src/parser.ts'],
        output: 'task 2.1 completed: wrote the parser',
      },
      { id: 'dispatch:5', tool: 'implementer', status: 'FAILURE', output: 'task 1 blocked: no grammar' },
      { id: 'dispatch:7', tool: 'reviewer', status: 'SUCCESS', output: 'task 1 approved' },
      { id: 'dispatch:9', tool: 'reviewer', status: 'FAILURE', output: 'task 1 needs_changes' },
    ]);
    expect(traceIn(state)?.total).toBe(4);
  });

  it('dispatches that name an intent settle what went wrong with their own task, and no other', () => {
    const changes = (sequence: number, task_id: string) =>
      recorded(sequence, reviewer({ task_id, assessment: 'needs_changes', intent_id: 'INT-1' }));
    const approved = (sequence: number, task_id: string) =>
      recorded(sequence, reviewer({ task_id, assessment: 'approved', intent_id: 'INT-1' }));
    const state = foldedFrom([
      changes(1, '1'),
      changes(2, '2'),
      approved(3, '2'),
      done(4, { task_id: '3', status: 'failed', files_modified: ['src/a.ts'] }),
      done(5, { task_id: '4', status: 'blocked', files_modified: ['src/a.ts'] }),
      done(6, { task_id: '3', status: 'completed', files_modified: ['src/b.ts'] }),
      appended(steps(14)),
    ]);
    expect(traceIn(state)?.unresolved.items.map(({ text }) => text)).toEqual([
      'reviewer failed: task 1 needs_changes',
      'implementer failed: task 4 blocked: added the store',
    ]);
  });

  it('dispatches that name an intent count once, although their events are repeated, even far apart', () => {
    const events = Array.from({ length: 45 }, (_, index) => done(index + 1));
    const once = foldedFrom(events);
    expect(traceIn(once)).toMatchObject({ total: 45, compacted: 40, blocks: 2 });
    const again = foldedFrom([...events.flatMap((event) => [event, event]), ...events]);
    expect(traceIn(again)).toEqual(traceIn(once));
    // More than the ids that a trace remembers: the window of dispatches knows them still.
    const many = Array.from({ length: 600 }, (_, index) => done(index + 1));
    expect(traceIn(foldedFrom([...many, ...many]))).toMatchObject({ total: 600 });
  });

  it('dispatches that name an intent stand in their order, and appended entries among them by their time', () => {
    const dispatches = Array.from({ length: 60 }, (_, index) =>
      done(2 * index + 2, { intent_id: index % 7 === 0 ? 'INT-2' : 'INT-1', summary: `step ${index}` }),
    );
    const appends = [11, 40, 41, 90].map((at) => ({
      ...appended([step(at), step(at + 1000)]),
      at: timeOf(at),
    }));
    const inOrder = [...dispatches, ...appends].sort((one, other) => (one.at < other.at ? -1 : 1));
    const arrivals = fc.tuple(
      fc.shuffledSubarray(dispatches, { minLength: dispatches.length }),
      fc.array(fc.nat(60), { minLength: appends.length, maxLength: appends.length }),
      fc.array(fc.constantFrom(...dispatches), { maxLength: 10 }),
    );
    const shown = (state: SessionState) => JSON.stringify(tracesToJson(tracesOf(state)));
    fc.assert(
      fc.property(arrivals, fc.infiniteStream(fc.boolean()), ([shuffled, places, repeated], reads) => {
        const events: SessionEvent[] = [...shuffled, ...repeated];
        // What was appended stands in the log in its order.
        for (const [index, place] of [...places].sort((one, other) => other - one).entries()) {
          events.splice(place, 0, ...appends.slice(appends.length - 1 - index, appends.length - index));
        }
        const state = emptyState('demo');
        for (const event of stored(events)) {
          evolve(state, event);
          if (reads.next().value) tracesOf(state);
        }
        expect(shown(state)).toBe(shown(foldedFrom(inOrder)));
      }),
      { numRuns: 40 },
    );
  });

  it('dispatches that name an intent fill blocks together with entries that were appended', () => {
    const state = foldedFrom([appended(steps(19)), done(1)]);
    expect(traceIn(state)).toMatchObject({ total: 20, compacted: 20, blocks: 1 });
  });
});

describe('snapshot and tail', () => {
  const entry = fc.record(
    {
      id: fc.integer({ min: 1, max: 25 }).map((index) => `e${index}`),
      timestamp: fc.constant('2026-01-01T00:00:00Z'),
      intent_id: fc.constantFrom('INT-1', 'INT-2', null),
      state: fc.constantFrom(...TRACE_STATES),
      action_type: fc.constantFrom(...ACTION_TYPES),
      payload: fc.record(
        {
          reasoning: fc.constantFrom('to see', 'ask\nfor it', 'You must ask. Never wait.'),
          command: fc.constantFrom('npm test', 'x'.repeat(400)),
          target_files: fc.constantFrom(['a.ts'], ['b.ts', 'c.ts']),
          tool_name: fc.constantFrom('edit', 'bash'),
        },
        { requiredKeys: [] },
      ),
      result: fc.record(
        {
          error_message: fc.constantFrom('exit 1', ''),
          status: fc.constantFrom(...RESULT_STATUSES),
          output_summary: fc.constantFrom('ok', 'o'.repeat(300)),
        },
        { requiredKeys: ['status'] },
      ),
    },
    { requiredKeys: ['intent_id', 'action_type'] },
  ) satisfies fc.Arbitrary<TraceEntryInput>;
  const dispatches = fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.constantFrom('INT-1', 'INT-3'))
    .map(([sequence, intent_id]) => recorded(sequence, implementer({ intent_id })));
  const appends = fc
    .tuple(fc.array(entry, { minLength: 1, maxLength: 6 }), fc.nat(2))
    .map(([entries, malformed]) => appended(entries, malformed));
  const logs = fc.array(fc.oneof(appends, appends, dispatches), { minLength: 1, maxLength: 14 });

  function expectEveryCutToAgree(events: readonly StoredEvent[]): void {
    const whole = bytes(folded(events, DEFAULT_LIMITS));
    for (let cut = 0; cut <= events.length; cut += 1) {
      const loaded = restored(bytes(folded(events.slice(0, cut), DEFAULT_LIMITS)));
      for (const event of events.slice(cut)) evolve(loaded, event);
      expect(bytes(loaded)).toBe(whole);
    }
  }

  it('snapshot and tail of traces are the full replay at every cut, byte for byte', () => {
    fc.assert(
      fc.property(logs, (events) => expectEveryCutToAgree(stored(events))),
      { numRuns: 40 },
    );
  });
});
