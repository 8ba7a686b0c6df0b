import { describe, expect, it } from 'vitest';
import { TASK_STATUSES } from '../../../../src/contracts/task-events.js';
import { timeAt, withTasks } from '../../../support/played.js';

describe('a reason', () => {
  it('a reason is kept with the status that it explains, and goes with it', () => {
    const played = withTasks('a').after('task-status', { id: '1', status: 'blocked', reason: 'no access' });
    expect(played.state.board.tasks.get('TAS-1')).toMatchObject({ status: 'blocked', reason: 'no access' });
    played.after('task-status', { id: '1', status: 'remaining' });
    expect(played.state.board.tasks.get('TAS-1')).not.toHaveProperty('reason');
  });
});

describe('a task that is reopened', () => {
  it('a task cannot be reopened while an open one has the same content', () => {
    const played = withTasks('a')
      .after('task-status', { id: '1', status: 'completed' })
      .after('task-add', { content: 'A ' });
    expect(played.when('task-status', { id: '1', status: 'remaining' })).toMatchObject({
      refused: { code: 'duplicate', details: { id: 'TAS-2' } },
    });
    expect(played.when('task-status', { id: '1', status: 'cancelled' })).toMatchObject({
      event: { type: 'task.status' },
    });
  });

  it('a cancelled task is not completed without being reopened, and the refusal names the command', () => {
    const played = withTasks('a').after('task-status', { id: '1', status: 'cancelled' });
    expect(played.when('task-status', { id: '1', status: 'completed' })).toMatchObject({
      refused: {
        code: 'conflict',
        message: 'TAS-1 was cancelled: reopen it with "throughline task edit TAS-1 --status pending" first',
      },
    });
  });
});

describe('task-status', () => {
  it.each(TASK_STATUSES)('task-status sets %s, and notes the iteration and the reason', (status) => {
    const played = withTasks('a').after('iteration-start', {});
    const { event, reply } = played.when('task-status', { id: '1', status, reason: ' because ' });
    expect(event).toEqual({
      type: 'task.status',
      data: { task: 'TAS-1', status, reason: 'because', iteration: 1 },
    });
    expect(reply).toMatchObject({ task: { id: 'TAS-1', status, iteration: 1, updated_at: timeAt(2) } });
  });
});

describe('task-priority', () => {
  it('task-priority sets the priority, critical included, and leaves the iteration alone', () => {
    const played = withTasks('a').after('iteration-start', {});
    const { event, reply } = played.when('task-priority', { id: '1', priority: 0 });
    expect(event).toEqual({ type: 'task.priority', data: { task: 'TAS-1', priority: 0, iteration: 1 } });
    expect(reply).toMatchObject({ task: { priority: 0, iteration: 0, updated_at: timeAt(2) } });
    expect(played.state.history.iterations).toMatchObject([{ tasks_worked: [] }]);
  });
});

describe('task-content', () => {
  it('task-content refuses the text of another open task, but not its own in other letters', () => {
    const played = withTasks('a', 'b');
    expect(played.when('task-content', { id: '1', content: 'B ' })).toMatchObject({
      refused: { code: 'duplicate', details: { id: 'TAS-2' } },
    });
    expect(played.when('task-content', { id: '1', content: 'A' })).toMatchObject({
      reply: { task: { content: 'A' } },
    });
    played.after('task-status', { id: '2', status: 'completed' });
    expect(played.when('task-content', { id: '1', content: 'b' })).toHaveProperty('event');
  });

  it('a text belongs to who wrote it: an agent that changes the task of a person signs it', () => {
    const played = withTasks().after('task-add', { content: 'a', by: 'ana', person: true });
    expect(played.state.board.tasks.get('TAS-1')).toMatchObject({ by: 'ana' });
    played.after('task-content', { id: '1', content: 'b', by: 'ana' });
    expect(played.state.board.tasks.get('TAS-1')).toMatchObject({ content: 'b', by: 'an agent (ana)' });
    played.after('task-content', { id: '1', content: 'c' });
    expect(played.state.board.tasks.get('TAS-1')).not.toHaveProperty('by');
  });
});

describe('task-delete', () => {
  it('task-delete takes the task away and says which', () => {
    const played = withTasks('a', 'b');
    expect(played.when('task-delete', { id: 'tas-1' })).toEqual({
      event: { type: 'task.deleted', data: { task: 'TAS-1', iteration: 0 } },
      reply: { task: null, deleted: 'TAS-1' },
    });
    expect([...played.state.board.tasks.keys()]).toEqual(['TAS-2']);
    expect(played.when('task-delete', { id: 'TAS-1' })).toMatchObject({ refused: { code: 'not_found' } });
    const restored = { id: '1', undo: true };
    expect(played.when('task-delete', restored)).toMatchObject({ reply: { task: { content: 'a' } } });
    expect([...played.state.board.tasks.keys()]).toEqual(['TAS-1', 'TAS-2']);
    played.after('task-delete', { id: '1' }).after('task-add', { content: 'A' });
    expect(played.when('task-delete', restored)).toMatchObject({ refused: { code: 'duplicate' } });
    for (let number = 4; number < 24; number += 1)
      played.after('task-add', { content: `${number}` }).after('task-delete', { id: `${number}` });
    expect(played.when('task-delete', restored)).toMatchObject({ refused: { code: 'not_found' } });
  });
});

describe('task-list', () => {
  it('task-list lists all tasks in the order of their numbers, or those of one status', () => {
    const played = withTasks(...'abcdefghijk').after('task-status', { id: '2', status: 'completed' });
    played.after('task-status', { id: '10', status: 'completed' });
    const ids = (tasks: unknown) => (tasks as { tasks: { id: string }[] }).tasks.map(({ id }) => id);
    expect(ids(played.view('task-list', {}))).toEqual(Array.from({ length: 11 }, (_, n) => `TAS-${n + 1}`));
    expect(ids(played.view('task-list', { status: 'completed' }))).toEqual(['TAS-2', 'TAS-10']);
    expect(played.view('task-list', { status: 'blocked' })).toEqual({ tasks: [] });
  });
});
