import { describe, expect, it, vi } from 'vitest';
import { token } from '../../src/contracts/names.js';
import type { TimelineEntry } from '../../src/contracts/result-requests.js';
import { TimelineTail } from '../../src/sdk/watch-session.js';
import { fakeTimers } from '../support/fake-timers.js';
import * as fc from '../support/properties.js';

fakeTimers();

/** Returns a timeline that can fail, and whose events are readable some time after their announcement. */
function followed() {
  const stored: number[] = [];
  const told: number[] = [];
  const faults: unknown[] = [];
  let isDown = false;
  const list = async ({ after = 0 }) => {
    if (isDown) throw new Error('down');
    const entries = stored.filter((each) => each > after).map(entryAt);
    return { entries: entries.toReversed(), sequence: stored.at(-1) ?? 0 };
  };
  const tail = new TimelineTail(
    list,
    { session: token('demo', 'session'), after: 0 },
    {
      failed: (error) => faults.push(error),
      tell: (events) => told.push(...events.map(({ sequence }) => sequence)),
    },
  );
  const down = (is: boolean) => {
    isDown = is;
  };
  return { stored, told, faults, tail, down };
}

function entryAt(sequence: number): TimelineEntry {
  return { key: `${sequence}`, kind: 'command', at: '', sequence, type: 'task.added', summary: '' };
}

type Step = 'append' | 'append late' | 'append unheard' | 'down' | 'up' | 'wait' | 'hint';

describe('the tail of a timeline', () => {
  it('whatever hints are late or lost and whatever reads fail, everything is told once and in order', async () => {
    const step = fc.constantFrom<Step>(
      'append',
      'append late',
      'append unheard',
      'down',
      'up',
      'wait',
      'hint',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { stored, told, tail, down } = followed();
        const append = () => stored.push(stored.length + 1);
        for (const each of steps) {
          if (each === 'append' || each === 'append unheard') append();
          if (each === 'append' || each === 'append late' || each === 'hint') tail.poke();
          if (each === 'append late') setTimeout(append, 30);
          if (each === 'down' || each === 'up') down(each === 'down');
          if (each === 'wait') await vi.advanceTimersByTimeAsync(50);
        }
        down(false);
        await vi.advanceTimersByTimeAsync(100);
        tail.look();
        await vi.advanceTimersByTimeAsync(10_000);
        tail.close();
        expect(told).toEqual(stored);
      }),
    );
  });

  it('a log that went back to lower numbers is followed from there', async () => {
    const { stored, told, tail } = followed();
    stored.push(1, 2, 3);
    tail.poke();
    await vi.advanceTimersByTimeAsync(2000);
    stored.splice(1);
    tail.look();
    await vi.advanceTimersByTimeAsync(1);
    stored.push(2);
    tail.poke();
    await vi.advanceTimersByTimeAsync(2000);
    expect(told).toEqual([1, 2, 3, 2]);
    tail.close();
  });

  it('a tail that is closed reads nothing more', async () => {
    const { stored, told, faults, tail, down } = followed();
    down(true);
    tail.poke();
    await vi.advanceTimersByTimeAsync(100);
    expect(faults).toHaveLength(1);
    tail.close();
    down(false);
    stored.push(1);
    tail.poke();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual([]);
  });
});
