import { describe, expect, it, onTestFinished } from 'vitest';
import type { TimelineEntry } from '../../../src/contracts/replies/timeline-reply.js';
import { SessionFollower } from '../../../src/services/inspector/session-follower.js';
import { soon } from '../../support/soon.js';

/** A timeline of so many events, and a follower of it; `told` are the sequences that it tells, `asked` its requests. */
function following(events = 3) {
  const log = { events, told: [] as number[], asked: 0 };
  const follower = new SessionFollower({
    ask: async (after) => {
      log.asked += 1;
      const entries = Array.from({ length: after === undefined ? 0 : log.events - after }, (_, place) =>
        entryOf((after ?? 0) + place + 1),
      );
      return { entries, sequence: log.events, isCut: false };
    },
    tell: ({ sequence }) => log.told.push(sequence),
    lost: () => log.told.push(-1),
  });
  onTestFinished(() => follower.close());
  return { follower, log };
}

function entryOf(sequence: number): TimelineEntry {
  const at = new Date(sequence).toISOString();
  return { key: `e${sequence}`, kind: 'command', at, sequence, type: 'task.added', summary: '' };
}

describe('a follower of a session', () => {
  it('a follower tells of an event at once, also right after another one', async () => {
    const { follower, log } = following();
    await soon(() => expect(log.asked).toBeGreaterThan(0));
    const began = performance.now();
    for (let each = 0; each < 10; each++) {
      log.events += 1;
      follower.poke();
      await soon(() => expect(log.told.at(-1)).toBe(log.events));
    }
    // It asks again after a second in case something was stored late: nothing new waits for that.
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(log.told).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  it('a follower asks a few times for a burst of events, and tells of each once', async () => {
    const { follower, log } = following();
    await soon(() => expect(log.asked).toBeGreaterThan(0));
    for (let each = 0; each < 500; each++) {
      log.events += 1;
      follower.poke();
    }
    await soon(() => expect(log.told).toHaveLength(500));
    expect(log.asked).toBeLessThan(20);
    expect(new Set(log.told).size).toBe(500);
  });
});
