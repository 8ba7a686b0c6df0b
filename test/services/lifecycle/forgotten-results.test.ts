import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { generationOf } from '../../../src/nats/stores/nats-session-lifecycle.js';
import { admission } from '../../../src/services/common/process-parts.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';
import { recordForgotten } from '../../support/lifecycle-records.js';

const DEMO = token('demo', 'session');
const AT = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:09.000Z';

test('a result counts, unless it came before its session was forgotten; while that goes on it waits', async () => {
  const lifecycle = new MemorySessionLifecycle();
  expect(admission(lifecycle, DEMO, 5)).toBe('counts');
  expect(admission(undefined, DEMO, 5)).toBe('counts');

  await recordForgotten(lifecycle, DEMO, { at: AT, dispatches: 0, sequence: 0 });
  expect(admission(lifecycle, DEMO, 5)).toBe('later');
  await recordForgotten(lifecycle, DEMO, { at: AT, dispatches: 5, sequence: 9 });
  expect(admission(lifecycle, DEMO, 5)).toBe('forgotten');
  expect(admission(lifecycle, DEMO, 6)).toBe('later');

  await recordForgotten(lifecycle, DEMO, { status: 'forgotten', at: LATER, dispatches: 5 });
  expect(admission(lifecycle, DEMO, 5)).toBe('forgotten');
  expect(admission(lifecycle, DEMO, 6)).toBe('counts');
});

test('a forgotten session has a new generation, and none while it is being forgotten', async () => {
  const lifecycle = new MemorySessionLifecycle();
  const before = generationOf(lifecycle, DEMO);

  await recordForgotten(lifecycle, DEMO, { at: AT, dispatches: 5, sequence: 9 });
  expect(() => generationOf(lifecycle, DEMO)).toThrow(
    'session demo is being forgotten: try again in a moment',
  );
  await recordForgotten(lifecycle, DEMO, { status: 'forgotten', at: LATER, dispatches: 5 });

  expect(generationOf(lifecycle, DEMO)).not.toBe(before);
});
