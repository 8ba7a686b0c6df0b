import { expect, test } from 'vitest';
import { token } from '../../../src/contracts/names.js';
import { checkedHandler } from '../../../src/services/common/service-shell.js';
import { LifecycleKeeper } from '../../../src/services/keeper/serve-keeper.js';
import {
  beginForgetting,
  createForgetTool,
  SETTLED_MS,
} from '../../../src/services/lifecycle/forget-session.js';
import { timeOf } from '../../support/builders.js';
import { keeperPorts, NOW } from '../../support/forget-ports.js';
import { recordForgotten } from '../../support/lifecycle-records.js';

const OURS = token('ours', 'session');

test('the boundary is the time of the first request, however late it is erased, and that learnings go with it is added', async () => {
  const ports = keeperPorts(['ours'], { ours: 'parser' });
  await beginForgetting(ports, OURS);

  await beginForgetting({ ...ports, clock: () => '2027-01-01T00:00:00.000Z' }, OURS, true);

  expect(ports.lifecycle.forgotten(OURS)).toMatchObject({ at: NOW, with_learnings: true });
  const asked: string[] = [];
  ports.eraser.marks = async (_, until) => {
    asked.push(until);
    return { dispatches: 7, sequence: 9 };
  };
  await new LifecycleKeeper(ports).tick();
  expect(asked).toEqual([new Date(Date.parse(NOW) + SETTLED_MS).toISOString()]);
  expect(ports.lifecycle.forgotten(OURS)).toEqual({
    status: 'forgotten',
    at: NOW,
    dispatches: 7,
    sequence: 9,
  });
});

test('what is stored at the request goes with the session, though the clock of the keeper is behind that of the server', async () => {
  const ports = keeperPorts(['ours'], {});
  ports.eraser.lastDispatch = async () => 5;
  await beginForgetting(ports, OURS);

  await new LifecycleKeeper(ports).tick();

  expect(ports.lifecycle.forgotten(OURS)).toMatchObject({ status: 'forgotten', dispatches: 5 });
});

test('nothing is erased before every process has noticed, and the boundary is recorded before that', async () => {
  const ports = keeperPorts(['ours'], {});
  await beginForgetting(ports, OURS);
  const steps: string[] = [];
  const eraser = Object.assign(Object.create(ports.eraser), {
    marks: async () => {
      steps.push('marks');
      return { dispatches: 7, sequence: 9 };
    },
    erase: async () => {
      steps.push(`erase up to ${ports.lifecycle.forgotten(OURS)?.dispatches}`);
      return ports.eraser.erase(OURS, { dispatches: 7, sequence: 9 });
    },
  });
  const pause = async (ms: number) => {
    if (ms === SETTLED_MS) steps.push('settled');
  };

  await new LifecycleKeeper({ ...ports, eraser, pause }).tick();

  expect(steps).toEqual(['settled', 'marks', 'erase up to 7', 'erase up to 7']);
});

test('a keeper that has lost its lease records nothing more, also once the session is being forgotten again', async () => {
  const ports = keeperPorts(['ours'], { ours: 'parser' });
  const { lifecycle, leases } = ports;
  await beginForgetting(ports, OURS);
  const later = '2026-01-01T01:00:00.000Z';
  const { claim } = leases;
  let isLost = false;
  leases.claim = async (key, given) => (isLost ? { holder: 'another', since: later } : claim(key, given));
  ports.eraser.rewrite = async () => {
    // Another keeper takes over and finishes, and the next session of the name is to be forgotten.
    isLost = true;
    await recordForgotten(lifecycle, OURS, { at: later });
  };

  await new LifecycleKeeper(ports).tick();

  expect(lifecycle.forgotten(OURS)).toMatchObject({ status: 'forgetting', at: later });
});

test('a dry run says that a session is being forgotten, counts the next session of the name, and begins nothing', async () => {
  const ports = keeperPorts(['ours'], {});
  const forget = checkedHandler(
    'tool.session-forget',
    createForgetTool(ports, async () => true),
  );
  const look = () => forget({ session: 'ours', dryRun: true });

  await recordForgotten(ports.lifecycle, OURS, { at: timeOf(1) });
  expect(await look()).toMatchObject({ state: 'running', found: { dispatches: 1 } });
  await recordForgotten(ports.lifecycle, OURS, { status: 'forgotten', at: timeOf(2) });
  expect(await look()).toMatchObject({ state: 'counted', found: { dispatches: 1 } });

  expect([...ports.eraser.dispatches]).toEqual(['ours']);
  expect(ports.lifecycle.unfinished()).toEqual([]);
});

test('without a keeper that would erase it, a session is not forgotten, and the error says how to start one', async () => {
  const ports = keeperPorts(['ours'], {});
  const forget = checkedHandler(
    'tool.session-forget',
    createForgetTool(ports, async () => false),
  );
  await expect(forget({ session: 'ours', confirm: 'ours' })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('admin serve --only keeper'),
  });
  expect(ports.lifecycle.forgotten(OURS)).toBeUndefined();
});
