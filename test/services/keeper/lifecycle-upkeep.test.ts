import { expect, it } from 'vitest';
import type { RetentionRules } from '../../../src/contracts/lifecycle-record.js';
import { token } from '../../../src/contracts/names.js';
import { silentLogger } from '../../../src/engine/ports/clients.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import { keeperPorts, NOW } from '../../support/forget-ports.js';

const DAY_MS = 86_400_000;
const START = Date.parse(NOW);

it('the record of a forgotten session is removed after a week, and not before it is forgotten', async () => {
  const ports = keeperPorts([], {});
  const { lifecycle } = ports;
  const [gone, leaving] = [token('gone', 'session'), token('leaving', 'session')];
  for (const session of [gone, leaving])
    await lifecycle.forgetting(session, { at: NOW, dispatches: 1, sequence: 1 });
  await lifecycle.forgot(gone, NOW);
  // Another keeper erases the sessions.
  await ports.leases.claim('forget', { holder: 'another', ttlMs: 60_000, at: NOW });
  const after = (days: number) => new LifecycleKeeper({ ...ports, now: () => START + days * DAY_MS }).tick();
  await after(7);
  expect(lifecycle.forgotten(gone)).toMatchObject({ status: 'forgotten' });
  await after(7.1);
  expect([lifecycle.forgotten(gone), lifecycle.forgotten(leaving)]).toMatchObject([
    undefined,
    { status: 'forgetting' },
  ]);
});

it('a task of the keeper that fails is said, retried after a pause, and stops no other task', async () => {
  const said: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => said.push(fields) };
  const ports = { ...keeperPorts(['ours'], {}), logger };
  let tries = 0;
  ports.lifecycle.expire = async () => {
    tries += 1;
    throw new Error('gone');
  };
  const ours = token('ours', 'session');
  await ports.lifecycle.forgetting(ours, { at: NOW, dispatches: 1, sequence: 1 });
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
