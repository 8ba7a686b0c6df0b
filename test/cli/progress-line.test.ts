import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { erased } from '../../src/cli/session-commands.js';
import type { ToolReply } from '../../src/contracts/requests.js';

/** How long commands say how far they are. */

const { isTTY } = process.stderr;
let said: string[] = [];
beforeEach(() => {
  said = [];
  process.stderr.isTTY = true;
  vi.useFakeTimers();
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
});
afterEach(() => {
  process.stderr.isTTY = isTTY;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const counts = (events: number) => ({
  events,
  dispatches: 0,
  rejected: 0,
  snapshots: 0,
  prompts: 0,
  index: 0,
  evidence: 0,
  proposals: 0,
  learnings: 0,
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

describe('session rm', () => {
  it('says every few seconds how much is left, on a terminal', async () => {
    const whole = erased(erasing());
    await vi.runAllTimersAsync();
    expect(await whole).toMatchObject({ state: 'done', found: counts(1200) });
    expect(said).toEqual(['-- erasing: 700 events left\n', '-- erasing: 200 events left\n']);
    process.stderr.isTTY = false;
    const unseen = erased(erasing());
    await vi.runAllTimersAsync();
    expect(await unseen).toMatchObject({ state: 'done' });
    expect(said).toHaveLength(2);
  });
});
