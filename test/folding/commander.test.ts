import { describe, expect, it } from 'vitest';
import type { LearningEvent } from '../../src/contracts/learning-events.js';
import { token } from '../../src/contracts/names.js';
import { createCommander, inBackground } from '../../src/folding/commander.js';
import { PROJECT_FOLDING } from '../../src/folding/project-folding.js';
import { StateReader } from '../../src/folding/state-reader.js';
import type { LearningState } from '../../src/learnings/learnings-state.js';
import { silentLogger } from '../../src/ports/logger.js';
import { MemoryLearningLog } from '../doubles/memory-learning-log.js';
import { MemorySnapshotStore } from '../doubles/memory-snapshot-store.js';

const project = token('demo', 'project');

/** A commander, and what it carried out in which order. */
function commander() {
  const log = new MemoryLearningLog();
  const snapshots = new MemorySnapshotStore();
  const reader = new StateReader({
    log,
    snapshots,
    folding: PROJECT_FOLDING,
    logger: silentLogger,
    maxCached: 10,
  });
  const clock = () => '2026-01-01T00:00:00.000Z';
  const command = createCommander<LearningState, LearningEvent>({
    log,
    reader,
    clock,
    newId: () => 'id',
    random: () => 0,
  });
  const carriedOut: string[] = [];
  const does = (by: typeof command, name: string, of = project) =>
    by(of, name, () => {
      carriedOut.push(name);
      if (name === 'broken') throw new Error('broken');
      return { kind: 'answer', reply: () => ({}) };
    });
  return { command, background: inBackground(command), carriedOut, does };
}

describe('commands in the background', () => {
  it('background commands let a command go first that a caller waits for, and keep their own order', async () => {
    const { command, background, carriedOut, does } = commander();
    const crowd = Array.from({ length: 50 }, (_, index) => does(background, `rule ${index}`));
    await crowd[0];
    await does(command, 'a person');
    expect(carriedOut.indexOf('a person')).toBeLessThan(3);
    await Promise.all(crowd);
    expect(carriedOut.filter((name) => name !== 'a person')).toEqual(
      Array.from({ length: 50 }, (_, index) => `rule ${index}`),
    );
  });

  it('background commands go on after one that failed, which is reported', async () => {
    const { background, carriedOut, does } = commander();
    const broken = does(background, 'broken');
    const next = does(background, 'next');
    await expect(broken).rejects.toThrow('broken');
    await next;
    expect(carriedOut).toEqual(['broken', 'next']);
  });

  it('background commands wait only for those of the same key', async () => {
    const { background, carriedOut, does } = commander();
    const crowd = Array.from({ length: 50 }, (_, index) => does(background, `rule ${index}`));
    await does(background, 'elsewhere', token('other', 'project'));
    expect(carriedOut.length).toBeLessThan(5);
    await Promise.all(crowd);
  });
});
