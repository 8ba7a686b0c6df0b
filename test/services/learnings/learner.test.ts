import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_PROJECT, token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader, PROJECT_FOLDING } from '../../../src/engine/folding/session-folding.js';
import { StateReader } from '../../../src/engine/folding/state-reader.js';
import { silentLogger, systemClock } from '../../../src/engine/ports/clients.js';
import type { DispatchDelivery, DispatchSource } from '../../../src/engine/ports/dispatch-source.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { SessionProjects, startLearner } from '../../../src/services/learnings/learner.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { soon } from '../../support/soon.js';

/** Returns a learner with one review, whose log blocks until `release` is called. */
async function learning(ackWaitMs: number, more: object = {}, published = [1]) {
  const [log, learnings, snapshots] = [
    new MemorySessionLog(),
    new MemoryLearningLog(),
    new MemorySnapshotStore(),
  ];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const append = learnings.append.bind(learnings);
  learnings.append = async (...args) => {
    await released;
    return append(...args);
  };
  const review = { task_id: '1', assessment: 'needs_changes', required_fixes: ['Name the unit'], ...more };
  const delivery = {
    subject: 'dispatch.demo.reviewer',
    body: Buffer.from(JSON.stringify(review)),
    sequence: 1,
    at: systemClock(),
    delivery: 1,
    isFirst: true,
    ack: vi.fn(),
    working: vi.fn(),
    nak: vi.fn(),
    term: vi.fn(),
  } satisfies DispatchDelivery;
  const source: DispatchSource = {
    newest: async () => 0,
    publish: () => Promise.reject(new Error('nobody publishes here')),
    async consume(handler) {
      for (const sequence of published) handler({ ...delivery, sequence });
      return { close: async () => {} };
    },
  };
  const [limits, logger] = [DEFAULT_LIMITS, silentLogger];
  const sessions = createSessionReader({ log, snapshots, limits, logger, maxCached: 1 });
  const projects = new StateReader({
    log: learnings,
    snapshots,
    folding: PROJECT_FOLDING,
    logger,
    maxCached: 1,
  });
  const random = () => 0;
  const command = createCommander({
    log: learnings,
    reader: projects,
    clock: systemClock,
    newId: randomUUID,
    random,
  });
  const learner = await startLearner({
    source,
    learnings,
    projects,
    command,
    logger,
    random,
    ackWaitMs,
    sessions: new SessionProjects({ log, sessions, maxKnown: 1 }),
    maxBodyBytes: 1000,
    maxDeliveries: 5,
    recurrence: 3,
  });
  return { learner, learnings, delivery, release };
}

describe('what the learner notes', () => {
  it.each([
    ['a review that is published again is noted once', { result_id: 'r1' }, 1],
    ['reviews without an id are noted each', {}, 2],
    ['a review of history is not noted', { history: true }, 0],
  ])('%s', async (_, more, noted) => {
    const { learner, learnings, delivery, release } = await learning(30_000, more, [1, 2]);
    release();
    await soon(() => expect(delivery.ack).toHaveBeenCalledTimes(2));
    await learner.stop();
    expect((await learnings.read(token(DEFAULT_PROJECT, 'project'), { after: 0 })).events).toHaveLength(
      noted,
    );
  });
});

describe('the learner', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('the learner reports a review that takes long as in progress, until it is acknowledged', async () => {
    const { learner, delivery, release } = await learning(30_000);
    vi.advanceTimersByTime(60_000);
    const said = delivery.working.mock.calls.length;
    expect(said).toBeGreaterThan(2);
    expect(delivery.ack).not.toHaveBeenCalled();
    release();
    await soon(() => expect(delivery.ack).toHaveBeenCalledOnce());
    vi.advanceTimersByTime(60_000);
    expect(delivery.working).toHaveBeenCalledTimes(said);
    await learner.stop();
    expect(delivery.nak).not.toHaveBeenCalled();
  });

  it('the learner goes on reporting a review as in progress while it is stopped, and then no more', async () => {
    const { learner, delivery, release } = await learning(30_000);
    const stopped = learner.stop();
    vi.advanceTimersByTime(60_000);
    expect(delivery.working.mock.calls.length).toBeGreaterThan(2);
    release();
    await stopped;
    expect(delivery.ack).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });
});
