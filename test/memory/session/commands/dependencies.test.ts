import { describe, expect, it } from 'vitest';
import { TASK_STATUSES } from '../../../../src/contracts/task-events.js';
import { Played, withTasks } from '../../../support/played.js';

/** TAS-1 waits for TAS-2, that for TAS-3, …, up to the last. */
function chain(length: number): Played {
  const played = withTasks(...Array.from({ length }, (_, index) => `link ${index + 1}`));
  for (let n = 1; n < length; n += 1) played.after('task-depends', { id: `${n}`, dependsOn: `${n + 1}` });
  return played;
}

describe('task-depends', () => {
  it('task-depends adds dependencies to those there are, and shows what keeps the task waiting', () => {
    const played = withTasks('a', 'b', 'c').after('task-depends', { id: '3', dependsOn: '2' });
    const { event, reply } = played.when('task-depends', { id: 'tas-3', dependsOn: ['1', 'TAS-2'] });
    expect(event).toEqual({
      type: 'task.depends',
      data: { task: 'TAS-3', depends_on: ['TAS-1', 'TAS-2'], iteration: 0 },
    });
    expect(reply).toMatchObject({
      task: {
        depends_on: ['TAS-2', 'TAS-1'],
        unresolved: [
          { id: 'TAS-2', why: 'remaining' },
          { id: 'TAS-1', why: 'remaining' },
        ],
      },
    });
  });

  it.each([2, 5])('task-depends refuses to close a cycle of %i tasks, and names it', (length) => {
    const played = chain(length);
    const cycle = [length, ...Array.from({ length }, (_, index) => index + 1)].map((n) => `TAS-${n}`);
    expect(played.when('task-depends', { id: `${length}`, dependsOn: '1' })).toEqual({
      refused: {
        code: 'cycle',
        message: `TAS-${length} cannot wait for TAS-1: it would wait for itself (${cycle.join(' → ')})`,
        details: { cycle },
      },
    });
    expect(played.task(`TAS-${length}`)?.depends_on).toEqual([]);
  });

  it('task-depends names the path that leads back, not the branches that do not', () => {
    const played = withTasks('a', 'b', 'c', 'd', 'e')
      .after('task-depends', { id: '1', dependsOn: ['2', '3'] })
      .after('task-depends', { id: '2', dependsOn: '4' })
      .after('task-depends', { id: '3', dependsOn: ['4', '5'] });
    expect(played.when('task-depends', { id: '5', dependsOn: '1' })).toMatchObject({
      refused: { details: { cycle: ['TAS-5', 'TAS-1', 'TAS-3', 'TAS-5'] } },
    });
  });

  it('task-depends finds the cycle at the end of a chain of 10,000 tasks', () => {
    const length = 10_000;
    const played = new Played();
    for (let n = 1; n <= length; n += 1) {
      const depends_on = n === 1 ? [] : [`TAS-${n - 1}`];
      const data = { task: `TAS-${n}`, content: `${n}`, priority: 2, depends_on, iteration: 0 };
      played.fold({ type: 'task.added', data: { ...data, status: 'remaining' } });
    }
    expect(played.when('task-depends', { id: '1', dependsOn: `${length}` })).toMatchObject({
      refused: {
        code: 'cycle',
        message: expect.stringContaining('TAS-9997 → TAS-9996 → … → TAS-5 → '),
        details: { cycle: { length: length + 1 } },
      },
    });
  });
});

describe('task-undepends', () => {
  it('task-undepends removes dependencies, and what waited for nothing else is ready', () => {
    const played = withTasks('a', 'b').after('task-depends', { id: '1', dependsOn: '2' });
    const { event, reply } = played.when('task-undepends', { id: '1', dependsOn: 'tas-2' });
    expect(event).toEqual({
      type: 'task.undepends',
      data: { task: 'TAS-1', depends_on: ['TAS-2'], iteration: 0 },
    });
    expect(reply).toMatchObject({ task: { depends_on: [], unresolved: [] } });
    expect(played.when('task-depends', { id: '2', dependsOn: '1' }), 'no cycle any more').toHaveProperty(
      'event',
    );
  });
});

describe('a dependency', () => {
  it.each(TASK_STATUSES.filter((status) => status !== 'completed'))(
    'a dependency that is %s keeps a task waiting, and says so',
    (status) => {
      const played = withTasks('a', 'b').after('task-depends', { id: '2', dependsOn: '1' });
      played.after('task-status', { id: '1', status });
      expect(played.view('task-list', { status: 'remaining' })).toMatchObject({
        tasks: expect.arrayContaining([
          expect.objectContaining({ id: 'TAS-2', unresolved: [{ id: 'TAS-1', why: status }] }),
        ]),
      });
    },
  );

  it('a deleted dependency keeps a task waiting as missing', () => {
    const played = withTasks('a', 'b').after('task-depends', { id: '2', dependsOn: '1' });
    played.after('task-delete', { id: '1' });
    expect(played.view('task-list', {})).toMatchObject({
      tasks: [{ id: 'TAS-2', unresolved: [{ id: 'TAS-1', why: 'missing' }] }],
    });
    expect(played.when('task-next', {})).toEqual({ reply: { task: null } });
  });

  it('a completed dependency frees the task, and blocks it again once reopened', () => {
    const played = withTasks('a', 'b').after('task-depends', { id: '2', dependsOn: '1' });
    played.after('task-status', { id: '1', status: 'completed' });
    expect(played.when('task-next', {})).toMatchObject({ reply: { task: { id: 'TAS-2', unresolved: [] } } });
    played.after('task-status', { id: '1', status: 'remaining' });
    expect(played.when('task-next', {})).toMatchObject({ reply: { task: { id: 'TAS-1' } } });
    played.after('task-status', { id: '1', status: 'in_progress' });
    expect(played.when('task-next', {})).toEqual({ reply: { task: null } });
  });
});
