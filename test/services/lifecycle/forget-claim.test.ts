import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { begin, claim, isAtIt, isBy } from '../../../src/services/lifecycle/forget-claim.js';
import { MemorySessionEraser } from '../../doubles/memory-session-eraser.js';
import { MemorySessionLifecycle } from '../../doubles/memory-session-lifecycle.js';

const DEMO = token('demo', 'session');

/** Claims of a session by a clock that goes on by what is waited for. */
function ports() {
  let now = Date.parse('2026-01-01T00:00:00.000Z');
  const lifecycle = new MemorySessionLifecycle();
  return {
    lifecycle,
    eraser: new MemorySessionEraser({}),
    clock: () => new Date(now).toISOString(),
    pass: (ms: number) => {
      now += ms;
    },
    pause: async (ms: number) => {
      now += ms;
    },
  };
}

test('a session is erased by one at a time: another one waits until the first has forgotten it', async () => {
  const shared = ports();
  const one = await claim(shared, DEMO, { by: 'one' });
  expect(isAtIt(shared, DEMO)).toBe(true);
  const pause = async () => {
    await shared.lifecycle.forgot(DEMO, shared.clock(), (there) => isBy(there, 'one'));
  };

  expect(await claim({ ...shared, pause }, DEMO, { by: 'other' })).toBeUndefined();

  await one?.release();
  expect(isAtIt(shared, DEMO)).toBe(false);
});

test('what one that is gone has begun another one takes over, with all that is recorded; the first does not go on then', async () => {
  const shared = ports();
  const project = token('parser', 'project');
  const one = await claim(shared, DEMO, { by: 'one', withLearnings: true, project });
  await one?.hold({ settled: true, dispatches: 7, sequence: 9 });
  await one?.release();

  const other = await claim(shared, DEMO, { by: 'other' });

  const all = { by: 'other', settled: true, dispatches: 7, sequence: 9, with_learnings: true, project };
  expect(other?.record).toMatchObject(all);
  await expect(one?.hold()).rejects.toMatchObject({ code: 'conflict' });
  expect(await shared.lifecycle.forgot(DEMO, shared.clock(), (there) => isBy(there, 'one'))).toBe(false);
  await other?.hold();
  expect(await shared.lifecycle.forgot(DEMO, shared.clock(), (there) => isBy(there, 'other'))).toBe(true);
  await other?.release();
});

test('what was recorded of several sessions first is claimed by the one that has recorded it', async () => {
  const shared = ports();
  expect(await begin(shared, DEMO, { by: 'one' })).toBe(true);
  shared.pass(1000);
  expect(await begin(shared, DEMO, { by: 'other' })).toBe(false);

  const one = await claim(shared, DEMO, { by: 'one' });

  expect(one?.record.by).toBe('one');
  await one?.release();
});

test('a claim that was forgotten by another one is lost, also once a new session of the name has begun', async () => {
  const shared = ports();
  const one = await claim(shared, DEMO, { by: 'one' });
  await shared.lifecycle.forgot(DEMO, shared.clock());

  await expect(one?.hold()).rejects.toMatchObject({ code: 'conflict' });

  expect(shared.lifecycle.forgotten(DEMO)?.status).toBe('forgotten');
  await one?.release();
});
