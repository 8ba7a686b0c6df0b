import { describe, expect, it } from 'vitest';
import { REMEMBERED_RESULTS, WINDOW_LENGTH } from '../../../src/memory/session/dispatch-window.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { DEFAULT_LIMITS, emptyState, factsOf } from '../../../src/memory/session/session-state.js';
import { implementer, recorded, rejected, stored } from '../../support/builders.js';
import * as fc from '../../support/properties.js';
import { type DispatchEvent, foldedInOrder, jittered, permuted, said, withoutRepeats } from './arrivals.js';

const LIMITS = [DEFAULT_LIMITS, { ...DEFAULT_LIMITS, maxFacts: 20 }];

describe.each(LIMITS)('with at most $maxFacts facts, the fold', (limits) => {
  it('the fold of dispatches in any order, any number of times, is that of each once in order', () => {
    fc.assert(
      fc.property(permuted(60), ({ clean, arrived }) => {
        expect(said(foldedInOrder(arrived, limits))).toEqual(said(foldedInOrder(clean, limits)));
      }),
      { numRuns: 60 },
    );
  });

  it('the fold of a session is the same however often it is read in between', () => {
    fc.assert(
      fc.property(permuted(40), fc.infiniteStream(fc.boolean()), ({ arrived }, reads) => {
        const state = emptyState('demo', limits);
        for (const event of stored(arrived)) {
          evolve(state, event);
          if (reads.next().value) factsOf(state);
        }
        expect(said(state)).toEqual(said(foldedInOrder(arrived, limits)));
      }),
      { numRuns: 40 },
    );
  });

  it('the fold of more dispatches than the window holds is exact while none is overtaken by a whole window', () => {
    fc.assert(
      fc.property(jittered(3 * WINDOW_LENGTH), ({ clean, arrived }) => {
        expect(said(foldedInOrder(arrived, limits))).toEqual(said(foldedInOrder(clean, limits)));
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['permuted within the window', permuted(60), 60],
    ['late by less than the window', jittered(3 * WINDOW_LENGTH), 20],
  ] as const)(
    'the fold of results that are published again and again is that of each result once: %s',
    (_how, arrivals, numRuns) => {
      fc.assert(
        fc.property(arrivals, ({ clean, arrived }) => {
          const { dispatches } = foldedInOrder(arrived, limits);
          expect(clean.every(({ data }) => dispatches.has(data.dispatch.sequence))).toBe(true);
          const once = foldedInOrder(withoutRepeats(clean), limits);
          expect(said(foldedInOrder(arrived, limits)).current).toEqual(said(once).current);
        }),
        { numRuns },
      );
    },
  );

  it('the fold of a session counts a dispatch that comes later than the window once, and so any that is repeated', () => {
    fc.assert(
      fc.property(permuted(4 * WINDOW_LENGTH, fc.constant(undefined)), ({ clean, arrived }) => {
        const state = foldedInOrder(arrived, limits);
        const counts = state.dispatches.current().counts;
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(clean.length);
        expect(clean.every(({ data }) => state.dispatches.has(data.dispatch.sequence))).toBe(true);
        expect(factsOf(state).size()).toBeLessThanOrEqual(limits.maxFacts * 1.25);
        expect(
          new Set(
            factsOf(state)
              .all()
              .map((fact) => `${fact.id} ${fact.sourceSequence}`),
          ).size,
        ).toBe(factsOf(state).size());
      }),
      { numRuns: 15 },
    );
  });
});

describe('a result that is published again', () => {
  const counted = (events: readonly DispatchEvent[]) => {
    const { rejected: _, ...recordedOnes } = foldedInOrder(events, DEFAULT_LIMITS).dispatches.current()
      .counts;
    return Object.values(recordedOnes).reduce((sum, count) => sum + count, 0);
  };
  const returned = implementer({ summary: 'said', intent_id: 'parser' });

  it('a result that is published again counts once, also when its dispatches come later than the window', () => {
    fc.assert(
      fc.property(permuted(4 * WINDOW_LENGTH), ({ clean, arrived }) => {
        const isRecorded = ({ type }: DispatchEvent) => type === 'fact.recorded';
        expect(counted(arrived.filter(isRecorded))).toBe(withoutRepeats(clean.filter(isRecorded)).length);
      }),
      { numRuns: 15 },
    );
  });

  it('a result that is published again counts where it was rejected before: that uses up no id', () => {
    const events = [rejected(1), recorded(2, returned, 'r1'), rejected(3), recorded(4, returned, 'r1')];
    const { counts } = foldedInOrder(events, DEFAULT_LIMITS).dispatches.current();
    expect(counts).toMatchObject({ implementer: 1, rejected: 2 });
  });

  it('a result that is published again after 2,000 others counts again, and not after fewer', () => {
    const others = Array.from({ length: REMEMBERED_RESULTS - 1 }, (_, n) =>
      recorded(n + 2, implementer(), `id ${n}`),
    );
    const before = [recorded(1, returned, 'r1'), ...others];
    expect(counted([...before, recorded(3000, returned, 'r1')])).toBe(REMEMBERED_RESULTS);
    const one = recorded(2999, implementer(), 'one more');
    expect(counted([...before, one, recorded(3000, returned, 'r1')])).toBe(REMEMBERED_RESULTS + 2);
  });
});
