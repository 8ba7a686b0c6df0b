import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../../src/contracts/errors.js';
import type { LearningEvent } from '../../../src/contracts/learning-events.js';
import { token } from '../../../src/contracts/names.js';
import type { SessionEvent } from '../../../src/contracts/session-events.js';
import { createCommander, inBackground } from '../../../src/engine/folding/commander.js';
import type { SessionLog } from '../../../src/engine/ports/session-log.js';
import type { LearningState } from '../../../src/memory/learnings/learnings-state.js';
import { decide } from '../../../src/memory/session/commands/decide-session.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState, type SessionState } from '../../../src/memory/session/session-state.js';
import { MemoryLearningLog } from '../../doubles/memory-learning-log.js';
import { MemorySnapshotStore } from '../../doubles/memory-snapshot-store.js';
import { bytesOf, DEMO, gate, spiedPorts } from '../../doubles/spied-ports.js';
import { timeOf } from '../../support/builders.js';
import { projectReader } from '../../support/faults/clean-run.js';

const project = token('demo', 'project');

function commander() {
  const log = new MemoryLearningLog();
  const snapshots = new MemorySnapshotStore();
  const reader = projectReader(log, snapshots);
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

  it('background commands wait only for those of the same key', async () => {
    const { background, carriedOut, does } = commander();
    const crowd = Array.from({ length: 50 }, (_, index) => does(background, `rule ${index}`));
    await does(background, 'elsewhere', token('other', 'project'));
    expect(carriedOut.length).toBeLessThan(5);
    await Promise.all(crowd);
  });
});

function onSessions(sequenceStep = 1, clock?: () => string) {
  const ports = spiedPorts(sequenceStep);
  const reader = ports.reader();
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const adding = (log: SessionLog) => {
    const command = createCommander<SessionState, SessionEvent>({
      log,
      reader,
      newId,
      random: () => 0,
      clock: clock ?? (() => timeOf(ids)),
    });
    return (content: string) =>
      command(DEMO, 'task-add', (state) =>
        decide('task-add', state, { content, priority: 2, status: 'remaining' }),
      );
  };
  return { ...ports, reader, add: adding(ports.log), addElsewhere: adding(ports.kept.log) };
}

describe('a command whose append meets a conflict', () => {
  /** Has another process add these tasks, each right before an append. */
  function contested(...rivals: readonly string[]) {
    const { add, addElsewhere, log, kept } = onSessions();
    for (const rival of rivals)
      log.append.mockImplementationOnce(async (...args) => {
        await addElsewhere(rival);
        return kept.log.append(...args);
      });
    return { add, kept };
  }

  it('a conflict has a command decided again on the new state', async () => {
    const { add } = contested('a', 'b', 'c', 'd', 'e');
    expect((await add('mine')).reply).toMatchObject({ task: { id: 'TAS-6' } });
  });

  it('a conflict may turn a command into a refusal', async () => {
    const { add, kept } = contested('MINE');
    await expect(add('mine')).rejects.toMatchObject({ code: 'duplicate', details: { id: 'TAS-1' } });
    expect((await kept.log.read(DEMO, { after: 0 })).events).toHaveLength(1);
  });

  it('conflicts without end are a clear refusal', async () => {
    const { add, log } = onSessions();
    log.append.mockResolvedValue({ outcome: 'conflict' });
    await expect(add('x')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('task-add lost'),
    });
  });
});

describe('an append whose answer is lost', () => {
  const lost = () => new ThroughlineError('unavailable', 'no PubAck within 1 ms');

  it('is not reported as a duplicate of itself when another load sees its event first', async () => {
    const { add, log, reader, kept } = onSessions();
    let arrive = async () => {};
    log.append.mockImplementationOnce((...args) => {
      arrive = async () => void (await kept.log.append(...args));
      return Promise.reject(lost());
    });
    const read = (...range: Parameters<SessionLog['read']>) => kept.log.read(...range);
    log.read
      .mockImplementationOnce(read)
      .mockImplementationOnce(read)
      // The event arrives, and another load folds it, while the search for it is on its way back.
      .mockImplementationOnce(async (...range) => {
        const found = await read(...range);
        await arrive();
        await reader.load(DEMO);
        return found;
      });
    expect((await add('mine')).reply).toMatchObject({ task: { id: 'TAS-1' } });
    expect((await read(DEMO, { after: 0 })).events).toHaveLength(1);
  });

  it('again and again ends in unavailable, and the commands behind it go on', async () => {
    const { add, log, kept } = onSessions();
    log.append.mockImplementation(() => Promise.reject(lost()));
    const refused = add('first').finally(() => {
      log.append.mockImplementation((...args) => kept.log.append(...args));
    });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect((await add('second')).reply).toMatchObject({ task: { id: 'TAS-1' } });
  });
});

it('an event’s time is never before that of the event it follows, whatever the clock says', async () => {
  const times = [timeOf(20), timeOf(10), timeOf(30)];
  const left = [...times];
  const { add, kept } = onSessions(1, () => left.shift() ?? '');
  for (const content of ['a', 'b', 'c']) await add(content);
  const { events } = await kept.log.read(DEMO, { after: 0 });
  expect(events.map(({ event }) => event.at)).toEqual([times[0], times[0], times[2]]);
});

describe('the answer of a command', () => {
  it('a command reads its session once, before it decides, and answers from the event that it appended', async () => {
    const { add, log, append } = onSessions();
    await append(DEMO, 1);
    await add('first');
    log.read.mockClear();
    const { reply } = await add('second');
    expect(log.append).toHaveBeenCalledTimes(2);
    expect(log.read).toHaveBeenCalledTimes(1);
    const stored = await log.append.mock.results.at(-1)?.value;
    expect(reply).toMatchObject({ task: { id: 'TAS-2', content: 'second' }, sequence: stored.sequence });
  });

  it('an appended event that another load reads meanwhile is folded once', async () => {
    const { add, append, log, reader, kept } = onSessions();
    await append(DEMO, 1);
    await add('first');
    log.append.mockImplementationOnce(async (...args) => {
      const appended = await kept.log.append(...args);
      await reader.load(DEMO);
      return appended;
    });
    expect((await add('second')).reply).toMatchObject({ task: { id: 'TAS-2' } });
    // This reader folds the event before the command does.
    const { opened, open } = gate();
    let late: Promise<unknown> = Promise.resolve();
    log.append.mockImplementationOnce(async (...args) => {
      const appended = await kept.log.append(...args);
      log.read.mockImplementationOnce(async (...range) => {
        const read = await kept.log.read(...range);
        await opened;
        return read;
      });
      late = reader.load(DEMO);
      return appended;
    });
    expect((await add('third')).reply).toMatchObject({ task: { id: 'TAS-3' } });
    open();
    await late;
    const { folded } = await reader.load(DEMO);
    const { events } = await kept.log.read(DEMO, { after: 0 });
    expect(folded.sinceSnapshot).toBe(events.length);
    expect(bytesOf(folded.state)).toBe(bytesOf(events.reduce(evolve, emptyState(DEMO))));
  });
});
