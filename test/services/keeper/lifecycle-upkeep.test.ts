import { expect, it } from 'vitest';
import type { RetentionRules } from '../../../src/contracts/lifecycle-record.js';
import { token } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import { keeperPorts, NOW } from '../../support/forget-ports.js';
import { recordForgotten } from '../../support/lifecycle-records.js';

const START = Date.parse(NOW);

it('a task of the keeper that fails is said, retried after a pause, and stops no other task', async () => {
  const said: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => said.push(fields) };
  const ports = { ...keeperPorts(['ours'], {}), logger };
  let tries = 0;
  ports.store.rules = async () => {
    tries += 1;
    throw new Error('gone');
  };
  const ours = token('ours', 'session');
  await recordForgotten(ports.lifecycle, ours, { at: NOW });
  let now = START;
  const keeper = new LifecycleKeeper({ ...ports, now: () => now });
  await keeper.tick();
  await keeper.tick();
  expect([said.length, tries]).toEqual([1, 1]);
  expect(said).toMatchObject([{ code: 'internal' }]);
  expect(ports.lifecycle.forgotten(ours)).toMatchObject({ status: 'forgotten' });
  now += 60_000;
  await keeper.tick();
  expect(tries).toBe(2);
});

it('rules are followed once an hour, and soon after they were changed', async () => {
  const ports = keeperPorts(['ours'], { ours: 'parser' });
  let now = START;
  let rules: RetentionRules = { v: 1, rules: [{ action: 'archive', after: '30d', at: NOW }] };
  let looks = 0;
  const caughtUp = async () => {
    looks += 1;
  };
  const keeper = new LifecycleKeeper({
    ...ports,
    now: () => now,
    caughtUp,
    store: { rules: async () => rules },
  });
  const after = async (minutes: number) => {
    now = START + minutes * 60_000;
    await keeper.tick();
    return looks;
  };
  expect(await after(1)).toBe(1);
  expect(await after(10)).toBe(1);
  rules = { v: 1, rules: [{ action: 'archive', after: '60d', at: new Date(now).toISOString() }] };
  expect(await after(11)).toBe(2);
  expect(await after(60)).toBe(2);
  expect(await after(72)).toBe(3);
});
