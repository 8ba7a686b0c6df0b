import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { lifeBy, standingOf } from '../../../src/services/common/forgotten-results.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';

const DEMO = token('demo', 'session');
const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:09.000Z';

test('a result counts, unless it came before its session was forgotten; while that goes on it waits', async () => {
  const lifecycle = new MemorySessionLifecycle();
  expect(standingOf(lifecycle, DEMO, 5)).toBe('counts');
  expect(standingOf(undefined, DEMO, 5)).toBe('counts');

  await lifecycle.forgetting(DEMO, { at: AT, dispatches: 0, sequence: 0 });
  expect(standingOf(lifecycle, DEMO, 5)).toBe('later');
  await lifecycle.forgetting(DEMO, { at: AT, dispatches: 5, sequence: 9 });
  expect(standingOf(lifecycle, DEMO, 5)).toBe('forgotten');
  expect(standingOf(lifecycle, DEMO, 6)).toBe('later');

  await lifecycle.forgot(DEMO, LATER);
  expect(standingOf(lifecycle, DEMO, 5)).toBe('forgotten');
  expect(standingOf(lifecycle, DEMO, 6)).toBe('counts');
});

test('a session leads another life after it was forgotten, and none meanwhile', async () => {
  const lifecycle = new MemorySessionLifecycle();
  const lifeOf = lifeBy(lifecycle);
  const before = lifeOf(DEMO);

  await lifecycle.forgetting(DEMO, { at: AT, dispatches: 5, sequence: 9 });
  expect(() => lifeOf(DEMO)).toThrow('session demo is being forgotten: try again in a moment');
  await lifecycle.forgot(DEMO, LATER);

  expect(lifeOf(DEMO)).not.toBe(before);
});
