import { expect, test } from 'vitest';
import type { Forgotten } from '../../../src/contracts/lifecycle-record.js';
import { token } from '../../../src/contracts/names.js';
import { Jobs } from '../../../src/engine/runtime/jobs.js';
import { beginForgetting, FORGET_JOB, forgetKind } from '../../../src/services/lifecycle/forget-session.js';
import { MemoryLeaseStore } from '../../doubles/memory-lease-store.js';
import { forgetPorts } from '../../support/forget-ports.js';

const OURS = token('ours', 'session');

function processes() {
  const ports = { ...forgetPorts(['ours'], { ours: 'parser' }), leases: new MemoryLeaseStore() };
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `holder ${ids}`;
  };
  const process = (more: Partial<typeof ports> = {}) =>
    new Jobs(forgetKind({ ...ports, ...more }), { ...ports, newId });
  return { ports, process };
}

test('the boundary is recorded with the first record, also by a process that takes the session for one that is being forgotten', async () => {
  const { ports } = processes();
  const { lifecycle } = ports;
  ports.eraser.marks = async () => ({ dispatches: 7, sequence: 9 });
  await beginForgetting(ports, OURS, {});
  const stale = lifecycle.forgotten(OURS);
  await lifecycle.forgot(OURS, ports.clock());
  ports.eraser.marks = async () => ({ dispatches: 12, sequence: 15 });
  const { forgotten } = lifecycle;
  lifecycle.forgotten = () => stale;
  lifecycle.forgetting = async (session, given) => {
    lifecycle.forgotten = forgotten;
    return Object.getPrototypeOf(lifecycle).forgetting.call(lifecycle, session, given);
  };

  await beginForgetting(ports, OURS, {});

  expect(lifecycle.forgotten(OURS)).toMatchObject({
    status: 'forgetting',
    begun: { dispatches: 12, sequence: 15 },
  });
});

test('the boundary stays where it is when the same is asked again, and what goes with the session is added', async () => {
  const { ports } = processes();
  const project = token('parser', 'project');
  ports.eraser.marks = async () => ({ dispatches: 7, sequence: 9 });
  await beginForgetting(ports, OURS, { unlessMoved: { sequence: 1, since: ports.clock() } });
  ports.eraser.marks = async () => ({ dispatches: 12, sequence: 15 });

  await beginForgetting(ports, OURS, { withLearnings: true, project });

  const record = ports.lifecycle.forgotten(OURS);
  expect(record).toMatchObject({ begun: { dispatches: 7, sequence: 9 }, with_learnings: true, project });
  expect(record?.unless_moved).toBeUndefined();
});

test('a session is erased by one process at a time: another one waits until the first has forgotten it', async () => {
  const { ports, process } = processes();
  await beginForgetting(ports, OURS, {});
  let erasing = 0;
  let most = 0;
  const { erase } = ports.eraser;
  ports.eraser.erase = async (...args) => {
    erasing += 1;
    most = Math.max(most, erasing);
    await new Promise((resolve) => setTimeout(resolve, 20));
    erasing -= 1;
    return erase.apply(ports.eraser, args);
  };

  await Promise.all([process(), process()].map((each) => each.finish(FORGET_JOB)));

  expect(most).toBe(1);
  expect(ports.lifecycle.forgotten(OURS)).toEqual({
    ...{ v: 1, status: 'forgotten', at: ports.clock(), dispatches: 0, sequence: 0 },
  });
});

test('a process that has lost its lease records nothing more, also once the session is being forgotten again', async () => {
  const { ports, process } = processes();
  const { lifecycle, leases } = ports;
  await beginForgetting(ports, OURS, {});
  let other: Forgotten | undefined;
  const rewrite = async () => {
    if (other !== undefined) return;
    // Another process takes over, and is running when this one continues.
    const by = 'another process';
    await leases.claim('forget', { holder: by, ttlMs: 60_000, at: ports.clock(), ended: ['holder 1'] });
    await lifecycle.forgetting(OURS, (there) => there && { ...there, by });
    other = lifecycle.forgotten(OURS);
  };
  const eraser = Object.assign(Object.create(ports.eraser), { rewrite });

  await expect(process({ eraser }).finish(FORGET_JOB)).rejects.toMatchObject({ code: 'conflict' });

  expect(other).toMatchObject({ status: 'forgetting', by: 'another process', settled: true });
  expect(lifecycle.forgotten(OURS)).toEqual(other);
});

test('a session that a process which is gone was erasing is forgotten to the end by any other, with its project', async () => {
  const { ports, process } = processes();
  await beginForgetting(ports, OURS, { project: token('parser', 'project') });
  const killed = Object.assign(Object.create(ports.eraser), {
    erase: () => Promise.reject(new Error('killed')),
  });
  await expect(process({ eraser: killed }).finish(FORGET_JOB)).rejects.toThrow('killed');
  expect(ports.lifecycle.forgotten(OURS)).toMatchObject({ status: 'forgetting', settled: true });

  await process().resume();

  expect(ports.eraser.dispatches).toEqual(new Map());
  expect(ports.lifecycle.unfinished()).toEqual([]);
});
