import { describe, expect, it } from 'vitest';
import type { SessionEvent, StoredEvent } from '../../../src/contracts/session-events.js';
import { carriedBy, checkpointOf } from '../../../src/memory/session/checkpoint.js';
import { WINDOW_LENGTH } from '../../../src/memory/session/dispatch-window.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState, factsOf } from '../../../src/memory/session/session-state.js';
import { implementer, recorded, rejected, reviewer, timeOf } from '../../support/builders.js';
import * as fc from '../../support/properties.js';
import { bytes, restored } from '../../support/snapshots.js';
import { type DispatchEvent, folded, jittered, permuted, said } from './arrivals.js';

const task = (number: number): SessionEvent => ({
  v: 1,
  type: 'task.added',
  at: timeOf(number),
  id: `t${number}`,
  data: {
    task: `TAS-${number}`,
    content: `task ${number}`,
    status: 'remaining',
    priority: 2,
    depends_on: [],
    iteration: 0,
  },
});

/** The events with a checkpoint behind the first `before` of them, each three sequences from the next. */
function withCheckpoint(events: readonly SessionEvent[], before: number) {
  const at = (index: number) => 3 * index + 2;
  const head = events.slice(0, before).map((event, index): StoredEvent => ({ sequence: at(index), event }));
  const state = folded(head, DEFAULT_LIMITS);
  const checkpoint: StoredEvent = {
    sequence: at(before),
    after: state.sequence,
    event: {
      v: 1,
      type: 'session.checkpoint',
      at: state.lastEventAt || timeOf(0),
      id: 'c',
      data: checkpointOf(state, 'archived', before),
    },
  };
  const tail = events
    .slice(before)
    .map((event, index): StoredEvent => ({ sequence: at(before + 1 + index), event }));
  return { head, checkpoint, tail };
}

/** Number of events. */
const LONG = 30;

/** At every cut, snapshot and tail are the full replay, with what came before the checkpoint and without it. */
function expectEveryCutToAgree(events: readonly SessionEvent[], before: number): void {
  const { head, checkpoint, tail } = withCheckpoint(events, before);
  const all = [...head, checkpoint, ...tail];
  const whole = folded(all, DEFAULT_LIMITS);
  const [end, saidAtEnd] = [bytes(whole), said(whole)];
  const removed = folded([checkpoint, ...tail], DEFAULT_LIMITS);
  expect(bytes(removed)).toBe(end);
  expect(said(removed)).toEqual(saidAtEnd);
  const state = emptyState('demo', DEFAULT_LIMITS);
  for (let cut = 0; cut <= all.length; cut += 1) {
    const loaded = restored(bytes(state));
    const event = all[cut];
    if (event !== undefined) evolve(state, event);
    // Of a long log every seventh tail is enough, and those around the checkpoint: each is nearly as long as the log.
    const isNear = Math.abs(cut - before) < 3 || cut > all.length - 3;
    if (all.length > LONG && cut % 7 !== 0 && !isNear) continue;
    // A snapshot from before the checkpoint goes on with it, whether the events in between are there or not.
    const [first] = cut <= before ? [head.length] : [cut];
    for (const from of new Set([cut, first])) {
      const continued = restored(bytes(loaded));
      for (const event of all.slice(from)) evolve(continued, event);
      expect(bytes(continued)).toBe(end);
      expect(said(continued)).toEqual(saidAtEnd);
    }
  }
}

/** Dispatches with commands in between. */
function mixed(events: readonly DispatchEvent[]): SessionEvent[] {
  return events.flatMap((event, index) => (index % 4 === 1 ? [event, task(index)] : [event]));
}

describe('a checkpoint', () => {
  it('snapshot and tail are the full replay at every cut around a checkpoint, byte for byte', () => {
    const cases = fc.tuple(permuted(10), fc.nat(20));
    fc.assert(
      fc.property(cases, ([{ arrived }, at]) => {
        const events = mixed(arrived);
        expectEveryCutToAgree(events, at % (events.length + 1));
      }),
      { numRuns: 20 },
    );
  });

  it('snapshot and tail are the full replay beyond the window too, around a checkpoint', () => {
    const cases = fc.tuple(jittered(WINDOW_LENGTH + 8), fc.nat(WINDOW_LENGTH + 8));
    fc.assert(
      fc.property(cases, ([{ arrived }, at]) => expectEveryCutToAgree(arrived, at)),
      { numRuns: 2 },
    );
  });

  it('a checkpoint changes nothing of what was said but where it stands in the log', () => {
    fc.assert(
      fc.property(permuted(12), fc.nat(30), ({ arrived }, at) => {
        const events = mixed(arrived);
        const before = at % (events.length + 1);
        const { head, checkpoint, tail } = withCheckpoint(events, before);
        const atOne = (text: string) =>
          text
            .replace(/"(eventSequence|event)":\d+/g, '"$1":1')
            .replace(/"(after_sequence|last_event|last_command|checkpoint)":\d+,/g, '');
        const without = folded([...head, ...tail], DEFAULT_LIMITS);
        const [one, other] = [folded([checkpoint, ...tail], DEFAULT_LIMITS), without].map((state) => {
          return atOne(bytes(state));
        });
        expect(one).toBe(other);
      }),
      { numRuns: 25 },
    );
  });

  it('a result that comes again after a checkpoint counts once, and one that overtook it counts', () => {
    const events = [recorded(3, implementer()), recorded(9, reviewer())];
    const { checkpoint } = withCheckpoint(events, 2);
    const late = [recorded(3, implementer()), rejected(5), recorded(7, implementer({ task_id: '2' }))];
    const tail = late.map((event, index): StoredEvent => ({ sequence: 100 + index, event }));
    const { counts } = folded([checkpoint, ...tail], DEFAULT_LIMITS).dispatches.current();
    expect(counts).toMatchObject({ implementer: 2, reviewer: 1, rejected: 1 });
  });

  it('a checkpoint does not count where something came between it and what it was made at', () => {
    const { head, checkpoint } = withCheckpoint([recorded(1, implementer()), task(1)], 2);
    const between: StoredEvent = { sequence: checkpoint.sequence, event: recorded(4, reviewer()) };
    const refused = folded([...head, between, { ...checkpoint, sequence: 100 }], DEFAULT_LIMITS);
    expect(refused.checkpoint).toBe(0);
    expect(refused.dispatches.current().counts).toMatchObject({ implementer: 1, reviewer: 1 });
  });

  it('a checkpoint says the newest result that has counted, and its facts stand at its sequence', () => {
    const { checkpoint } = withCheckpoint([recorded(3, implementer({ files_modified: ['a.ts'] }))], 1);
    expect(checkpoint.event.data).toMatchObject({
      events: 1,
      newest_dispatch: { sequence: 3, at: timeOf(3) },
    });
    const state = folded([checkpoint], DEFAULT_LIMITS);
    const facts = factsOf(state).all();
    expect(facts.length).toBeGreaterThan(0);
    expect(new Set(facts.map(({ eventSequence }) => eventSequence))).toEqual(new Set([checkpoint.sequence]));
    expect(state).toMatchObject({ checkpoint: checkpoint.sequence, lastCommand: checkpoint.sequence });
  });

  it.each(['', 'none', 'H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA=='])(
    'a checkpoint that cannot be read changes nothing where the events before it are there, and is an error where not: %j',
    (state) => {
      const { head, checkpoint, tail } = withCheckpoint([recorded(1, implementer()), task(1)], 1);
      if (checkpoint.event.type !== 'session.checkpoint') throw new Error('no checkpoint');
      const event = { ...checkpoint.event, data: { ...checkpoint.event.data, state } };
      expect(() => carriedBy(event, 5)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
      const damaged = { ...checkpoint, event };
      const { facts } = folded([...head, damaged, ...tail], DEFAULT_LIMITS).dispatches.current();
      expect(facts.count()).toBeGreaterThan(0);
      expect(() => folded([damaged, ...tail], DEFAULT_LIMITS)).toThrow(/cannot be read/);
    },
  );
});
