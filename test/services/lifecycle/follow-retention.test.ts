import { expect, test } from 'vitest';
import type { RetentionRules } from '../../../src/contracts/lifecycle-record.js';
import { token } from '../../../src/contracts/names.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import { keeperPorts, NOW } from '../../support/forget-ports.js';

const OURS = token('ours', 'session');
const FORGET: RetentionRules = { v: 1, rules: [{ action: 'forget', after: '30d', at: NOW }] };

/** Follows these rules once, so many days later. */
async function followed(ports: ReturnType<typeof keeperPorts>, rules: RetentionRules, days = 31) {
  const now = () => Date.parse(NOW) + days * 86_400_000;
  const clock = () => new Date(now()).toISOString();
  await new LifecycleKeeper({ ...ports, now, clock, store: { rules: async () => rules } }).tick();
}

function idle() {
  const ports = keeperPorts(['ours'], { ours: 'parser' });
  const settled: string[] = [];
  ports.archiver.settle = async (session) => {
    settled.push(session);
  };
  ports.log.append = async () => ({ outcome: 'appended', sequence: 2, duplicate: false });
  return { ports, settled };
}

test('a rule that forgets archives a session first, and leaves alone one that has moved since the look', async () => {
  const { ports, settled } = idle();
  ports.eraser.lastResultAt = async () => NOW;
  await followed(ports, FORGET, 20);
  ports.eraser.lastResultAt = async () => '2026-01-30T00:00:00.000Z';
  await followed(ports, FORGET);
  ports.eraser.lastResultAt = async () => NOW;
  ports.log.append = async () => ({ outcome: 'conflict' });
  await followed(ports, FORGET);
  expect(settled).toEqual([]);
  ports.log.append = async () => ({ outcome: 'appended', sequence: 2, duplicate: false });
  await followed(ports, FORGET);
  expect(settled).toEqual(['ours']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('an archived session that was reopened meanwhile is not forgotten by a rule', async () => {
  const { ports } = idle();
  await ports.lifecycle.change(OURS, () => ({ at: NOW, idle_since: NOW }));
  // Its record is behind: the log says that it is open.
  await followed(ports, FORGET);
  expect(ports.lifecycle.forgotten(OURS)).toBeUndefined();
});

test('after a restore nothing is done until a rule is set again', async () => {
  const { ports, settled } = idle();
  await followed(ports, { ...FORGET, paused: true });
  expect(settled).toEqual([]);
  await followed(ports, FORGET);
  expect(settled).toEqual(['ours']);
});
