import { afterEach, beforeEach, vi } from 'vitest';

/** Replaces the timers, or some of them, in each test of the file or `describe` that calls it. */
export function fakeTimers(...toFake: ('setInterval' | 'clearInterval')[]): void {
  beforeEach(() => {
    vi.useFakeTimers(toFake.length === 0 ? {} : { toFake });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}
