import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressLine } from '../../src/cli/progress-line.js';
import { erased } from '../../src/cli/remove-commands.js';
import type { ToolReply } from '../../src/contracts/replies/replies.js';

/** How long commands say how far they are. */

let said: string[] = [];
const { isTTY } = process.stderr;
beforeEach(() => {
  said = [];
  vi.useFakeTimers();
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.stderr.isTTY = isTTY;
});

/** Reaches 1, 2, 3 … ten times a second. */
function counting(seconds: number): void {
  const progress = progressLine(true);
  for (let count = 1; count <= seconds * 10; count += 1) {
    vi.advanceTimersByTime(100);
    progress.reached(() => `-- ${count}`);
  }
  progress.ended();
}

describe('a progress line', () => {
  it('in a pipe it is a line every five seconds, and none for what is done sooner', () => {
    process.stderr.isTTY = false;
    counting(4);
    expect(said).toEqual([]);
    counting(12);
    expect(said).toEqual(['-- 50\n', '-- 100\n']);
  });

  it('on a terminal it changes in place, and its end stays', () => {
    process.stderr.isTTY = true;
    counting(0.3);
    expect(said.join('')).toBe(
      ['-- 1', '-- 2', '-- 3', '-- 3']
        .map((line) => `\r\u001b[K${line}`)
        .join('')
        .concat('\n'),
    );
  });
});

const counts = (events: number) => ({
  ...{ events, dispatches: 0, rejected: 0, snapshots: 0, prompts: 0, telemetry: 0, index: 0 },
  ...{ evidence: 0, proposals: 0, learnings: 0 },
});

/** What a service answers that erases a hundred events a second, of 1,200: a dry run says how many are left. */
function erasing() {
  const began = performance.now();
  return async (): Promise<ToolReply<'session-forget'>> => {
    const left = Math.max(0, 1200 - Math.floor((performance.now() - began) / 10));
    const state = left > 0 ? ('running' as const) : ('done' as const);
    return { session: 'large', state, found: counts(left) } as never;
  };
}

describe('session rm and admin project rm', () => {
  it.each([
    [true, ['-- erasing: 700 events left\n', '-- erasing: 200 events left\n']],
    [false, []],
  ])('in a pipe they say every few seconds how much is left, unless for --json: %j', async (shown, lines) => {
    process.stderr.isTTY = false;
    const whole = erased(erasing(), shown);
    await vi.runAllTimersAsync();
    expect(await whole).toMatchObject({ state: 'done', found: counts(1200) });
    expect(said).toEqual(lines);
  });
});
