import { describe, expect, it } from 'vitest';
import { TASK_STATUSES } from '../../../../src/contracts/task-events.js';
import { argumentsOf, Played, timeAt, withTasks } from '../../../support/played.js';

/** Tasks that task-next hands out one after the other until there is none. */
function order(played: Played): string[] {
  const ids: string[] = [];
  for (;;) {
    const { event } = played.when('task-next', { claim: `agent-${ids.length}` });
    if (event?.type !== 'task.claimed') return ids;
    ids.push(event.data.task);
  }
}

describe('task-next', () => {
  it('task-next is null for a session without tasks, and appends nothing', () => {
    expect(new Played().when('task-next', {})).toEqual({ reply: { task: null } });
    expect(new Played().when('task-next', { claim: 'a' })).toEqual({ reply: { task: null } });
  });

  it('task-next goes by priority, and among equals by number: TAS-10 after TAS-2', () => {
    const played = withTasks(...'abcdefghijkl');
    played.after('task-priority', { id: '12', priority: 0 });
    played.after('task-priority', { id: '7', priority: 1 });
    played.after('task-priority', { id: '1', priority: 4 });
    expect(order(played)).toEqual([12, 7, 2, 3, 4, 5, 6, 8, 9, 10, 11, 1].map((n) => `TAS-${n}`));
  });

  it('task-next only shows the task unless it is claimed', () => {
    const played = withTasks('a', 'b');
    expect(played.when('task-next', {})).toMatchObject({
      reply: { task: { id: 'TAS-1', status: 'remaining' } },
    });
    expect(played.when('task-next', {}).event).toBeUndefined();
    expect(order(played)).toEqual(['TAS-1', 'TAS-2']);
  });

  it('task-next skips what waits for another, however urgent, until that is done', () => {
    const played = withTasks('low').after('task-add', { content: 'urgent', priority: 0, dependsOn: '1' });
    expect(order(played)).toEqual(['TAS-1']);
    played.after('task-status', { id: '1', status: 'completed' });
    expect(order(played)).toEqual(['TAS-2']);
  });

  it.each(TASK_STATUSES.filter((status) => status !== 'remaining'))(
    'task-next skips what is %s',
    (status) => {
      const played = withTasks('a').after('task-status', { id: '1', status });
      expect(played.when('task-next', {})).toEqual({ reply: { task: null } });
    },
  );
});

describe('a claim', () => {
  it('a claim takes the task for the agent in the same step', () => {
    const played = withTasks('a').after('iteration-start', {});
    expect(played.when('task-next', { claim: ' agent-1 ' })).toEqual({
      event: { type: 'task.claimed', data: { task: 'TAS-1', agent: 'agent-1', iteration: 1 } },
      reply: {
        task: {
          id: 'TAS-1',
          content: 'a',
          status: 'in_progress',
          priority: 2,
          depends_on: [],
          created_at: timeAt(0),
          updated_at: timeAt(2),
          iteration: 1,
          claimed_by: 'agent-1',
          unresolved: [],
        },
      },
    });
    expect(played.when('task-next', { claim: 'agent-2' })).toEqual({ reply: { task: null } });
  });

  it('a claim of an agent that holds a task gives it that task', () => {
    const played = withTasks('a', 'b').after('task-next', { claim: 'x' });
    const again = played.when('task-next', { claim: 'x' });
    expect(again).toMatchObject({ reply: { task: { id: 'TAS-1', claimed_by: 'x' } } });
    expect(again).not.toHaveProperty('event');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: { id: 'TAS-2' } } });
    played.after('task-status', { id: '1', status: 'blocked' });
    expect(played.when('task-next', { claim: 'x' })).toMatchObject({ reply: { task: null } });
  });

  it('a claim needs a name', () => {
    expect(() => argumentsOf('task-next', { claim: ' ' })).toThrow(/^claim: /);
    expect(() => argumentsOf('task-next', { claim: true })).toThrow(/^claim is true: use text/);
  });

  it('a claim counts as work of the iteration', () => {
    const played = withTasks('a', 'b').after('iteration-start', {}).after('task-next', { claim: 'x' });
    expect(played.state.history.iterations).toMatchObject([{ number: 1, tasks_worked: ['TAS-1'] }]);
  });

  it('a claim stays with a task through blocked and completed, and ends with remaining', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    for (const status of ['blocked', 'completed', 'in_progress'] as const) {
      played.after('task-status', { id: '1', status });
      expect(played.task('TAS-1')?.claimed_by).toBe('x');
    }
    played.after('task-status', { id: '1', status: 'remaining' });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: { claimed_by: 'y' } } });
  });
});

describe('task-release', () => {
  it('task-release gives the task back, for the next one to take', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    const { event, reply } = played.when('task-release', { id: '1', claim: 'x' });
    expect(event).toEqual({ type: 'task.released', data: { task: 'TAS-1', iteration: 1 } });
    expect(reply).toMatchObject({ task: { status: 'remaining' } });
    expect(reply).not.toHaveProperty('task.claimed_by');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: { claimed_by: 'y' } } });
  });

  it('task-release needs no name, but refuses a wrong one', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    expect(played.when('task-release', { id: '1', claim: 'y' })).toEqual({
      refused: { code: 'conflict', message: 'TAS-1 is claimed by x, not by y' },
    });
    expect(played.when('task-release', { id: '1' })).toHaveProperty('event');
  });

  it('task-release refuses a task that has no claim, and one that is not there', () => {
    const played = withTasks('a');
    expect(played.when('task-release', { id: '1' })).toEqual({
      refused: { code: 'not_found', message: 'TAS-1 is not claimed' },
    });
    expect(played.when('task-release', { id: '2' })).toMatchObject({ refused: { code: 'not_found' } });
  });

  it('task-release leaves the status of a task that is blocked', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    played.after('task-status', { id: '1', status: 'blocked' }).after('task-release', { id: '1' });
    expect(played.task('TAS-1')).toMatchObject({ status: 'blocked' });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
  });
});

describe('a claim that its iteration ends', () => {
  const claimed = () =>
    withTasks('a', 'b', 'c').after('iteration-start', {}).after('task-next', { claim: 'x' });

  it.each(['iteration-complete', 'iteration-start'] as const)('a claim expires with %s', (tool) => {
    const played = claimed().after(tool, {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'remaining', updated_at: timeAt(5) });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
    expect(order(played)).toEqual(['TAS-1', 'TAS-2', 'TAS-3']);
  });

  it('the end of an iteration keeps who did what is done', () => {
    const played = claimed().after('task-status', { id: '1', status: 'completed' });
    played.after('iteration-complete', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'completed', claimed_by: 'x' });
  });

  it('the end of an iteration takes the claim of a blocked task, not its status', () => {
    const played = claimed()
      .after('task-status', { id: '1', status: 'blocked' })
      .after('iteration-complete', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'blocked' });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
  });

  it('the late end of an earlier iteration leaves what was claimed in a later one', () => {
    const played = claimed().after('iteration-start', {}).after('task-next', { claim: 'y' });
    played.after('iteration-complete', { number: 1 });
    expect(played.task('TAS-1')).toMatchObject({ status: 'in_progress', claimed_by: 'y' });
  });

  it('the end of an iteration leaves what was begun without a claim', () => {
    const played = withTasks('a').after('iteration-start', {});
    played.after('task-status', { id: '1', status: 'in_progress' }).after('iteration-complete', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'in_progress' });
  });

  it('the end of an iteration expires a claim from before the first iteration as well', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' }).after('iteration-start', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'remaining' });
  });
});
