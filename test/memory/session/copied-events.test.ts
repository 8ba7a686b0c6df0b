import { expect, it } from 'vitest';
import type { Token } from '../../../src/contracts/names.js';
import type { StoredEvent } from '../../../src/contracts/session-events.js';
import { CopiedSequences, copiedEvent } from '../../../src/memory/session/copied-events.js';
import { CountedDispatches, type CountedMemory } from '../../../src/memory/session/dispatch-window.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { stored as inOrder, recorded, rejected, reviewer } from '../../support/builders.js';
import { canonicalState, renumbered } from '../../support/canonical.js';
import { type LogStep, logSteps, played } from '../../support/generated-logs.js';
import * as fc from '../../support/properties.js';
import { folded, said } from './arrivals.js';

const SESSION = 'demo' as Token;

/** The events of a log whose sequences have gaps. */
async function events(steps: readonly LogStep[], sequenceStep: number): Promise<readonly StoredEvent[]> {
  const log = new MemorySessionLog({ sequenceStep });
  await played(log, SESSION, steps);
  return (await log.read(SESSION, { after: 0 })).events;
}

/** The same events in another log, with the sequences that they get there. */
function copy(originals: readonly StoredEvent[], steps: readonly number[]): StoredEvent[] {
  const sequences = new CopiedSequences();
  let at = 1000;
  return originals.map((stored, index) => {
    const { event, decided } = copiedEvent(stored, sequences);
    at += 1 + (steps[index % steps.length] ?? 0);
    sequences.add(stored.sequence, at);
    return { sequence: at, event, ...decided };
  });
}

const gaps = fc.array(fc.nat(50), { minLength: 1, maxLength: 10 });

it('a copied log has the canonical state of its original', () =>
  fc.assert(
    fc.asyncProperty(logSteps, gaps, async (steps, gap) => {
      const originals = await events(steps, 3);
      expect(canonicalState(copy(originals, gap))).toBe(canonicalState(originals));
    }),
  ));

it('a renumbered log says what the log says', () =>
  fc.assert(
    fc.asyncProperty(logSteps, async (steps) => {
      const originals = await events(steps, 7);
      const ranked = renumbered(originals);
      expect(ranked.map(({ sequence }) => sequence)).toEqual(originals.map((_, index) => index + 1));
      expect(renumbered(ranked)).toEqual(ranked);
      expect(said(folded(ranked, DEFAULT_LIMITS))).toEqual(said(folded(originals, DEFAULT_LIMITS)));
    }),
  ));

it('two different logs do not have the same canonical state', async () => {
  const one = inOrder([recorded(1, reviewer()), rejected(2)]);
  const other = inOrder([recorded(1, reviewer()), rejected(3)]);
  expect(canonicalState(one)).not.toBe(canonicalState(other));
  expect(canonicalState(one)).not.toBe(canonicalState(one.slice(0, 1)));
});

/** So little is remembered that proofs are needed, and that some of these are forgotten as well. */
const LITTLE: CountedMemory = { maxBytes: 2, surely: 2, maxLate: 2 };

/** Which events count, of dispatches that come late and bring proofs. */
function counted(all: readonly StoredEvent[]): boolean[] {
  const dispatches = new CountedDispatches(undefined, LITTLE);
  return all.map(({ sequence, event }) => {
    if (event.type !== 'fact.recorded' && event.type !== 'dispatch.rejected') return false;
    const { dispatch } = event.data;
    return dispatches.count(dispatch.sequence, sequence, dispatch.checked);
  });
}

it('late dispatches count by their proofs in a copy as in the original', () =>
  fc.assert(
    fc.asyncProperty(logSteps, gaps, async (steps, gap) => {
      const originals = await events(steps, 3);
      expect(counted(copy(originals, gap))).toEqual(counted(originals));
    }),
    { numRuns: 600 },
  ));
