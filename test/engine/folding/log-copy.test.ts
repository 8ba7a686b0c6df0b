import { expect, it } from 'vitest';
import type { Token } from '../../../src/contracts/names.js';
import { copyLog, isSameSession, PagedCopy } from '../../../src/engine/folding/log-copy.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { implementer, recorded } from '../../support/builders.js';
import { renumbered } from '../../support/canonical.js';
import { type LogStep, logSteps, played } from '../../support/generated-logs.js';
import * as fc from '../../support/properties.js';

const SESSION = 'demo' as Token;
const OTHER = 'other' as Token;

async function original(steps: readonly LogStep[]): Promise<MemorySessionLog> {
  const log = new MemorySessionLog({ sequenceStep: 3 });
  await played(log, SESSION, steps);
  return log;
}

/** A log shared with other sessions that fails at an append. */
function target(failsAt = Number.POSITIVE_INFINITY) {
  const to = new MemorySessionLog({ sequenceStep: 2, shared: true });
  let appends = 0;
  const failing: Pick<MemorySessionLog, 'read' | 'append'> = {
    read: (...args) => to.read(...args),
    append: async (...args) => {
      appends += 1;
      if (appends === failsAt) throw new Error('killed');
      await to.append(OTHER, recorded(appends, implementer()));
      return to.append(...args);
    },
  };
  return { to, failing };
}

it('a copied log holds the same session, beside others in its stream', () =>
  fc.assert(
    fc.asyncProperty(logSteps, async (steps) => {
      const from = await original(steps);
      const { to, failing } = target();
      const { events } = await from.read(SESSION, { after: 0 });
      const copied = await copyLog({ from, to: failing }, SESSION);
      const read = await to.read(SESSION, { after: 0 });
      expect(copied).toEqual({
        outcome: 'copied',
        events: events.length,
        sequence: read.events.at(-1)?.sequence ?? 0,
      });
      expect(await isSameSession({ from, to }, SESSION)).toBe(true);
    }),
  ));

it('a copy that was cut short is gone on with, or said to differ', () =>
  fc.assert(
    fc.asyncProperty(logSteps, fc.integer({ min: 1, max: 40 }), async (steps, failsAt) => {
      const from = await original(steps);
      const { to, failing } = target(failsAt);
      await copyLog({ from, to: failing }, SESSION).catch(() => undefined);
      const { outcome } = await copyLog({ from, to }, SESSION);
      // Appends in flight with the failed one may have been stored after the gap.
      expect(await isSameSession({ from, to }, SESSION)).toBe(outcome === 'copied');
    }),
  ));

it('a copy under another name takes up what came since', async () => {
  const from = await original([]);
  const to = new MemorySessionLog();
  await from.append(SESSION, recorded(1, implementer()));
  await copyLog({ from, to }, SESSION, OTHER);
  await from.append(SESSION, recorded(2, implementer()), { expectedSequence: 3 });
  expect(await isSameSession({ from, to }, SESSION, OTHER)).toBe(false);
  expect(await copyLog({ from, to }, SESSION, OTHER)).toMatchObject({ outcome: 'copied', events: 2 });
  expect(await isSameSession({ from, to }, SESSION, OTHER)).toBe(true);
});

it('a log that holds more than its original is left as it is', async () => {
  const from = await original([]);
  const to = new MemorySessionLog();
  await to.append(SESSION, recorded(1, implementer()));
  expect(await copyLog({ from, to }, SESSION)).toMatchObject({ outcome: 'differs' });
  await from.append(SESSION, recorded(2, implementer()));
  expect(await copyLog({ from, to }, SESSION)).toMatchObject({ outcome: 'differs' });
  expect((await to.read(SESSION, { after: 0 })).events).toHaveLength(1);
});

it('a copy in pages is the same session, also where each page comes to two processes at once', () =>
  fc.assert(
    fc.asyncProperty(logSteps, fc.integer({ min: 1, max: 7 }), async (steps, size) => {
      const from = await original(steps);
      const to = new MemorySessionLog({ sequenceStep: 2 });
      const events = renumbered((await from.read(SESSION, { after: 0 })).events);
      const copies = [new PagedCopy(to, SESSION, 'one'), new PagedCopy(to, SESSION, 'one')];
      for (let begin = 0; begin < events.length; begin += size) {
        const page = events.slice(begin, begin + size);
        const added = copies.map(async (copy) => {
          await copy.catchUp(begin);
          return copy.add(page);
        });
        expect(await Promise.all(added)).toEqual(['copied', 'copied']);
      }
      expect(copies.map(({ count }) => count)).toEqual([events.length, events.length]);
      expect(await isSameSession({ from, to }, SESSION)).toBe(true);
    }),
  ));
