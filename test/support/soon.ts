import { vi } from 'vitest';

/** Longest wait for something that happens in milliseconds on an idle machine. */
export const SOON_MS = 45_000;

export function soon<T>(assert: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assert, { timeout: SOON_MS, interval: 20 });
}
