import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROJECT, token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { systemClock } from '../../../src/engine/runtime/pacing.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { startExtractor } from '../../../src/services/extractor/extractor-worker.js';
import { reviewHarvest } from '../../../src/services/learnings/harvesters.js';
import { ManualScheduler } from '../../doubles/manual-scheduler.js';
import { MemoryDispatchSource } from '../../doubles/memory-dispatch-source.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { MemoryRejectedStore } from '../../doubles/memory-rejected-store.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { DEMO } from '../../doubles/spied-ports.js';
import { freshReader, projectReader } from '../../support/faults/clean-run.js';

const PROJECT = token(DEFAULT_PROJECT, 'project');
const RECURRENCE = 2;

/** Returns an extractor with its harvest, whose log of learnings first fails so many times. */
async function learning({ failures = 0, maxDeliveries = 5 } = {}) {
  const scheduler = new ManualScheduler();
  const source = new MemoryDispatchSource({ scheduler });
  const [log, learnings] = [new MemorySessionLog(), new MemoryLearningLog()];
  const [snapshots, logger] = [new MemorySnapshotStore(), silentLogger];
  let left = failures;
  /** The events of the session at each hand-over. */
  const stored: number[] = [];
  const append = learnings.append.bind(learnings);
  learnings.append = async (project, event, options) => {
    stored.push((await log.read(DEMO, { after: 0 })).events.length);
    if (left-- > 0) throw new Error('the log of learnings is down');
    return append(project, event, options);
  };
  const projects = projectReader(learnings, snapshots);
  const ports = { log: learnings, reader: projects, clock: systemClock, newId: randomUUID, random: () => 0 };
  const harvest = reviewHarvest({
    learnings,
    reader: createSessionReader({ log, snapshots, limits: DEFAULT_LIMITS, logger, maxCached: 1 }),
    projects,
    inBackground: createCommander(ports),
    recurrence: RECURRENCE,
  });
  await startExtractor(
    { source, log, rejected: new MemoryRejectedStore(), reader: freshReader(log), logger },
    { maxBodyBytes: 1000, maxDeliveries, random: () => 1, now: () => scheduler.now(), harvest },
  );
  const review = async (task: string, more: object = {}) => {
    const body = { task_id: task, assessment: 'needs_changes', required_fixes: ['Name the unit'], ...more };
    await source.publish('dispatch.demo.reviewer', Buffer.from(JSON.stringify(body)));
  };
  const types = async () => {
    const { events } = await learnings.read(PROJECT, { after: 0 });
    return events.map(({ event }) => event.type);
  };
  return { scheduler, review, types, stored, log, projects };
}

describe('what is learned from stored reviews', () => {
  it('a review is learned from after its event is stored, and a demand of enough tasks is proposed', async () => {
    const { scheduler, review, types, stored } = await learning();
    await review('1');
    await scheduler.advance(1000);
    await review('2');
    await scheduler.advance(1000);
    expect(await types()).toEqual(['observed', 'observed', 'proposed']);
    expect(stored.slice(0, 2)).toEqual([1, 2]);
  });

  it.each([
    ['a review of history', { history: true }],
    ['a review without demands', { required_fixes: [] }],
  ])('nothing is learned from %s', async (_, more) => {
    const { scheduler, review, types } = await learning();
    await review('1', more);
    await scheduler.advance(1000);
    expect(await types()).toEqual([]);
  });

  it('a review that is published again is noted once', async () => {
    const { scheduler, review, types } = await learning();
    for (let time = 0; time < 2; time += 1) {
      await review('1', { result_id: 'r1' });
      await scheduler.advance(1000);
    }
    expect(await types()).toEqual(['observed']);
  });

  it('a review whose harvest fails is delivered again until it is learned from, and its result counts once', async () => {
    const { scheduler, review, types, log } = await learning({ failures: 2 });
    await review('1');
    await scheduler.advance(600_000);
    expect(await types()).toEqual(['observed']);
    const { events } = await log.read(DEMO, { after: 0 });
    expect(events.map(({ event }) => event.type)).toEqual(['fact.recorded']);
  });

  it('a harvest that keeps failing is given up after so many deliveries, and the result stays', async () => {
    const { scheduler, review, types, stored, log } = await learning({ failures: 99, maxDeliveries: 3 });
    await review('1');
    await scheduler.advance(600_000);
    expect(await types()).toEqual([]);
    expect(stored).toHaveLength(3);
    const { events } = await log.read(DEMO, { after: 0 });
    expect(events.map(({ event }) => event.type)).toEqual(['fact.recorded']);
  });
});
