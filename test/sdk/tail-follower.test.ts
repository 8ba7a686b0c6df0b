import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TailFollower } from '../../src/sdk/watch-session.js';
import * as fc from '../support/properties.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns a log that can fail, and whose events are readable some time after their announcement. */
function followed() {
  const stored: number[] = [];
  const told: number[] = [];
  const faults: unknown[] = [];
  let isDown = false;
  const follower = new TailFollower<number>({
    after: 0,
    failed: (error) => faults.push(error),
    async read(after) {
      if (isDown) throw new Error('down');
      const items = stored.filter((each) => each > after);
      return { items, through: items.at(-1) ?? after };
    },
    async tell(items) {
      told.push(...items);
    },
  });
  const down = (is: boolean) => {
    isDown = is;
  };
  return { stored, told, faults, follower, down };
}

type Step = 'append' | 'append late' | 'append unheard' | 'down' | 'up' | 'wait' | 'hint';

describe('a follower of a log', () => {
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
        const { stored, told, follower, down } = followed();
        const append = () => stored.push(stored.length + 1);
        for (const each of steps) {
          if (each === 'append' || each === 'append unheard') append();
          if (each === 'append' || each === 'append late' || each === 'hint') follower.poke();
          if (each === 'append late') setTimeout(append, 30);
          if (each === 'down' || each === 'up') down(each === 'down');
          if (each === 'wait') await vi.advanceTimersByTimeAsync(50);
        }
        down(false);
        await vi.advanceTimersByTimeAsync(100);
        follower.endsAt(stored.length, follower.at);
        await vi.advanceTimersByTimeAsync(10_000);
        follower.close();
        expect(told).toEqual(stored);
      }),
    );
  });

  it('a log that went back to lower numbers is followed from there', async () => {
    const { stored, told, follower } = followed();
    stored.push(1, 2, 3);
    follower.poke();
    await vi.advanceTimersByTimeAsync(2000);
    stored.splice(1);
    follower.endsAt(1, follower.at);
    stored.push(2);
    follower.poke();
    await vi.advanceTimersByTimeAsync(2000);
    expect(told).toEqual([1, 2, 3, 2]);
    follower.close();
  });

  it('a look that took longer than the follower has it tell nothing twice', async () => {
    const { stored, told, follower } = followed();
    stored.push(1, 2, 3);
    follower.poke();
    await vi.advanceTimersByTimeAsync(2000);
    const [looked, before] = [stored.length, follower.at];
    stored.push(4);
    follower.poke();
    await vi.advanceTimersByTimeAsync(2000);
    follower.endsAt(looked, before);
    await vi.advanceTimersByTimeAsync(2000);
    expect(told).toEqual([1, 2, 3, 4]);
    follower.close();
  });

  it('a follower that is closed reads nothing more', async () => {
    const { stored, told, faults, follower, down } = followed();
    down(true);
    follower.poke();
    await vi.advanceTimersByTimeAsync(100);
    expect(faults).toHaveLength(1);
    follower.close();
    down(false);
    stored.push(1);
    follower.poke();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual([]);
  });
});
