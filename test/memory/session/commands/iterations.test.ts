import { describe, expect, it } from 'vitest';
import { MAX_ITERATIONS } from '../../../../src/memory/session/iterations.js';
import { Played, timeAt, withTasks } from '../../../support/played.js';

describe('iteration-start', () => {
  it('iteration-start begins the first iteration, and then the next', () => {
    const played = new Played();
    expect(played.when('iteration-start', {})).toEqual({
      event: { type: 'iteration.started', data: { number: 1 } },
      reply: { iteration: { number: 1, started_at: timeAt(0), complete: false, tasks_worked: [] } },
    });
    expect(played.when('iteration-start', {})).toMatchObject({ reply: { iteration: { number: 2 } } });
  });

  it('iteration-start forgets the oldest iterations beyond the limit', () => {
    const played = new Played();
    for (let n = 1; n <= MAX_ITERATIONS + 3; n += 1) played.after('iteration-start', {});
    const { iterations } = played.state.history;
    expect([iterations.length, iterations[0]?.number]).toEqual([MAX_ITERATIONS, 4]);
    expect(played.when('iteration-summary', { number: 3, summary: 'late' })).toMatchObject({
      refused: { code: 'not_found', message: 'no iteration 3 is known: use 503 or leave it out' },
    });
  });
});

describe('iteration-complete', () => {
  it('iteration-complete ends the newest iteration, or the one that is named; a second time nothing happens', () => {
    const played = new Played().after('iteration-start', {}).after('iteration-start', {});
    const first = played.when('iteration-complete', {});
    expect(first.event).toEqual({ type: 'iteration.completed', data: { number: 2 } });
    expect(first.reply).toMatchObject({ iteration: { number: 2, ended_at: timeAt(2), complete: true } });
    expect(played.when('iteration-complete', {})).toEqual({ reply: first.reply });
    expect(played.when('iteration-complete', { number: 1 })).toMatchObject({
      reply: { iteration: { number: 1, complete: true } },
    });
  });
});

describe('iteration-summary', () => {
  it('iteration-summary is kept with the tasks that were worked on: those recorded, and those it names', () => {
    const played = withTasks('a', 'b', 'c').after('iteration-start', {});
    played.after('task-status', { id: '2', status: 'completed' });
    const { event, reply } = played.when('iteration-summary', {
      summary: ' Done b ',
      tasksWorked: ['3', 'tas-2'],
    });
    expect(event).toEqual({
      type: 'iteration.summary',
      data: { number: 1, summary: 'Done b', tasks_worked: ['TAS-3', 'TAS-2'] },
    });
    expect(reply).toMatchObject({ iteration: { summary: 'Done b', tasks_worked: ['TAS-2', 'TAS-3'] } });
  });

  it('iteration-summary is refused the second time, showing the first', () => {
    const played = new Played().after('iteration-start', {}).after('iteration-summary', { summary: 'first' });
    expect(played.when('iteration-summary', { summary: 'second' })).toEqual({
      refused: {
        code: 'summary_exists',
        message: 'iteration 1 already has a summary: set replace to replace it',
        details: { summary: 'first' },
      },
    });
    expect(played.state.history.iterations).toMatchObject([{ summary: 'first' }]);
  });
});

describe('the work of an iteration', () => {
  it('the work of an iteration is what was done in it', () => {
    const played = withTasks('a', 'b').after('iteration-start', {});
    played.after('task-status', { id: '1', status: 'completed' });
    played.after('iteration-start', {}).after('task-next', { claim: 'x' });
    expect(played.state.history.iterations.map(({ tasks_worked }) => tasks_worked)).toEqual([
      ['TAS-1'],
      ['TAS-2'],
    ]);
  });
});

describe('the first write of an iteration', () => {
  it.each([
    ['a claim', 'task-next', { claim: 'x' }, { worked: ['TAS-1'] }],
    ['a task in progress', 'task-status', { id: '1', status: 'in_progress' }, { worked: ['TAS-1'] }],
    ['a note', 'note-add', { content: 'No docker' }, { worked: [] }],
    ['a summary', 'iteration-summary', { summary: 'Read the spec' }, { worked: [] }],
  ] as const)('the first write of an iteration opens it: %s', (_, tool, args, { worked }) => {
    const played = withTasks('a').after(tool, args);
    const opened = { number: 1, started_at: timeAt(1), complete: false, tasks_worked: worked };
    expect(played.state.history.iterations).toMatchObject([opened]);
    played.after('note-add', { content: 'later' }).after('iteration-complete', {});
    expect(played.state.history.iterations).toMatchObject([{ ...opened, complete: true }]);
    const again = { 'note-add': { content: 'No ports' }, 'iteration-summary': { summary: 'More' } };
    played.after(tool, { ...args, ...(tool in again && again[tool as keyof typeof again]) });
    expect(played.state.history.iterations.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('the first write of an iteration is not a task that someone adds, nor a message', () => {
    const played = withTasks('a').after('inbox-add', { content: 'x' });
    played.after('task-status', { id: '1', status: 'cancelled' });
    expect(played.state.history.iterations).toEqual([]);
  });

  it('the first write of an iteration may come before it is started: one that holds notes at most is taken over', () => {
    const played = withTasks('a').after('note-add', { content: 'x' }).after('iteration-start', {});
    expect(played.state.history.iterations).toEqual([
      { number: 1, started_at: timeAt(1), complete: false, tasks_worked: [] },
    ]);
    played.after('iteration-complete', {}).after('task-next', { claim: 'x' });
    expect(played.when('iteration-start', { number: 2 })).toMatchObject({
      reply: { iteration: { number: 2 } },
    });
    expect(played.when('iteration-start', { number: 2 })).toMatchObject({ refused: { code: 'conflict' } });
  });

  it('the first write of an iteration leaves an earlier claim to the next one that is started', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' }).after('iteration-start', {});
    expect(played.state.history.iterations.map(({ number }) => number)).toEqual([1, 2]);
    expect(played.task('TAS-1')).toMatchObject({ status: 'remaining' });
  });
});
