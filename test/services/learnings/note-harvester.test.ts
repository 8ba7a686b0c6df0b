import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import { EVENT_VERSION } from '../../../src/contracts/event.js';
import { token } from '../../../src/contracts/names.js';
import { createCommander } from '../../../src/engine/folding/commander.js';
import { createSessionReader } from '../../../src/engine/folding/session-folding.js';
import { silentLogger } from '../../../src/engine/ports/logger-and-clock.js';
import { systemClock } from '../../../src/engine/runtime/pacing.js';
import { DEFAULT_LIMITS } from '../../../src/memory/session/session-state.js';
import { noteHarvester } from '../../../src/services/learnings/harvesters.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { MemorySessionLog } from '../../doubles/memory-session-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { projectReader } from '../../support/faults/clean-run.js';

const SESSION = token('demo', 'session');
const PROJECT = token('default', 'project');

/** Returns a session with one note, and a harvester on a project's log that first fails so many times. */
async function harvesterAfter(failures: number) {
  const [log, learnings, snapshots] = [
    new MemorySessionLog(),
    new MemoryLearningLog(),
    new MemorySnapshotStore(),
  ];
  const data = { note: 'NOT-1', content: 'Name the unit', type: 'tip', iteration: 0 } as const;
  await log.append(SESSION, { v: EVENT_VERSION, type: 'note.added', at: systemClock(), data });
  let left = failures;
  const read = vi.spyOn(learnings, 'read').mockImplementation(async (project, range) => {
    left -= 1;
    if (left >= 0) throw new ThroughlineError('unavailable', 'away');
    return MemoryLearningLog.prototype.read.call(learnings, project, range);
  });
  const limits = DEFAULT_LIMITS;
  const sessions = createSessionReader({ log, snapshots, limits, logger: silentLogger, maxCached: 1 });
  const projects = projectReader(learnings, snapshots);
  const command = createCommander({
    log: learnings,
    reader: projects,
    clock: systemClock,
    newId: randomUUID,
    random: () => 0,
  });
  const harvester = noteHarvester({
    reader: sessions,
    projects,
    inBackground: command,
    logger: silentLogger,
  });
  return { harvester, learnings, read };
}

describe('noteHarvester', () => {
  it('the note harvester proposes with the next note what a fault has kept from the project', async () => {
    const { harvester, learnings, read } = await harvesterAfter(1);
    harvester.schedule(SESSION);
    await harvester.stop();
    expect(await learnings.projects()).toEqual([]);
    harvester.schedule(SESSION);
    await harvester.stop();
    read.mockRestore();
    const { events } = await learnings.read(PROJECT, { after: 0 });
    expect(events.map(({ event }) => event)).toMatchObject([
      { type: 'proposed', data: { content: 'Name the unit' } },
    ]);
  });

  it('the note harvester forgets no round that is wanted at the moment when another one ends', async () => {
    const { harvester, learnings, read } = await harvesterAfter(0);
    harvester.schedule(SESSION);
    await turn();
    for (let microtasks = 0; microtasks < 40; microtasks += 1) {
      read.mockClear();
      read.mockImplementationOnce(async (project, range) => {
        void after(microtasks).then(() => harvester.schedule(SESSION));
        return MemoryLearningLog.prototype.read.call(learnings, project, range);
      });
      harvester.schedule(SESSION);
      await turn();
      expect(read, `${microtasks} microtasks after the last read`).toHaveBeenCalledTimes(2);
    }
    await harvester.stop();
  });
});

async function after(microtasks: number): Promise<void> {
  for (let each = 0; each < microtasks; each += 1) await undefined;
}
