import { expect, test } from 'vitest';
import type { RetentionRules, RetentionRun } from '../../../src/contracts/lifecycle-record.js';
import { RetentionKeeper } from '../../../src/services/keeper/serve-keeper.js';
import type { RetentionPorts } from '../../../src/services/lifecycle/follow-retention.js';
import { MemoryLeaseStore } from '../../doubles/memory-lease-store.js';
import { forgetPorts, NOW } from '../../support/forget-ports.js';

const never = () => Promise.reject(new Error('not asked for here'));

/** Runs a keeper's retention rules once, in memory. Returns the run. */
async function followed(ports: ReturnType<typeof forgetPorts>, rules: RetentionRules) {
  let run: RetentionRun | undefined;
  const all: RetentionPorts = {
    ...ports,
    caughtUp: async () => {},
    aged: { look: never },
    reader: ports.sessions,
    log: { append: never },
    archiver: { requireCheckpointFits: never, settle: never },
    leases: new MemoryLeaseStore(),
    store: {
      rules: async () => rules,
      changeRules: never,
      run: async () => run,
      saveRun: async (next) => {
        run = next;
      },
    },
    newId: () => 'one',
    now: () => Date.parse(NOW),
  };
  const keeper = new RetentionKeeper(all);
  await keeper.tick();
  await keeper.stop();
  return run;
}

test('a rule forgets a session that is due, and spares one that has moved meanwhile', async () => {
  const ports = forgetPorts(['ours', 'moved'], { ours: 'parser', moved: 'parser' });
  const { lastMoved } = ports.eraser;
  let asked = 0;
  ports.eraser.lastMoved = async (...[session]: unknown[]) => {
    const last = await lastMoved();
    if (session !== 'moved') return last;
    asked += 1;
    return asked === 1 ? last : { sequence: 2, at: NOW };
  };

  const run = await followed(ports, { v: 1, version: 1, rules: [{ at: NOW, forgetAfter: '30d' }] });

  expect(run).toMatchObject({ endedAt: NOW, forgotten: 1, spared: 1 });
  expect([...ports.eraser.dispatches.keys()]).toEqual(['moved']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('after a restore nothing is done until a rule is set again', async () => {
  const ports = forgetPorts(['ours'], { ours: 'parser' });
  const rules = [{ at: NOW, forgetAfter: '30d' }];
  expect(await followed(ports, { v: 1, version: 1, paused: true, rules })).toBeUndefined();
  expect([...ports.eraser.dispatches.keys()]).toEqual(['ours']);
});
