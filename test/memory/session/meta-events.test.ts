import { describe, expect, it } from 'vitest';
import { notesOf } from '../../../src/memory/session/notebook.js';
import type { TaskEvent } from '../../../src/memory/session/task-board.js';
import { Played, timeAt } from '../../support/played.js';

type NewTaskEvent<Event = TaskEvent> = Event extends TaskEvent ? Pick<Event, 'type' | 'data'> : never;

const added = (task: string, more: object = {}): NewTaskEvent => ({
  type: 'task.added',
  data: { task, content: task, status: 'remaining', priority: 2, depends_on: [], iteration: 1, ...more },
});
const given = (...events: NewTaskEvent[]) =>
  events.reduce((played, event) => played.fold(event), new Played());

const about = { task: 'TAS-7', iteration: 3 };
describe('the fold of a task', () => {
  it('the fold of tasks keeps the highest number, in whatever order tasks come', () => {
    expect(given(added('TAS-12'), added('TAS-9')).state.board.lastNumber).toBe(12);
  });

  it.each<NewTaskEvent>([
    { type: 'task.status', data: { ...about, status: 'completed' } },
    { type: 'task.priority', data: { ...about, priority: 1 } },
    { type: 'task.content', data: { ...about, content: 'x' } },
    { type: 'task.depends', data: { ...about, depends_on: ['TAS-1'] } },
    { type: 'task.undepends', data: { ...about, depends_on: ['TAS-1'] } },
    { type: 'task.claimed', data: { ...about, agent: 'x' } },
    { type: 'task.released', data: about },
    { type: 'task.deleted', data: about },
  ])('a task is not made by $type of one that is not there', (event) => {
    const played = given(added('TAS-1'), event);
    expect([...played.state.board.tasks.values()]).toEqual([
      ...given(added('TAS-1')).state.board.tasks.values(),
    ]);
    expect(played.state.sequence, 'the session moves on all the same').toBe(2);
  });
});

describe('the fold of notes', () => {
  const noted = () =>
    new Played().fold({
      type: 'note.added',
      data: { note: 'NOT-4', content: 'x', type: 'tip', iteration: 2 },
    });
  const note = {
    id: 'NOT-4',
    content: 'x',
    type: 'tip',
    created_at: timeAt(0),
    updated_at: timeAt(0),
    iteration: 2,
  };

  it('the fold of notes passes over what speaks of a note that is not there', () => {
    const played = noted().fold({ type: 'note.edited', data: { note: 'NOT-1', content: 'y' } });
    played.fold({ type: 'note.deleted', data: { note: 'NOT-1' } });
    expect([...notesOf(played.state).values()]).toEqual([note]);
  });
});

describe('the fold of iterations', () => {
  const started = () => new Played().fold({ type: 'iteration.started', data: { number: 3 } });
  const running = { number: 3, started_at: timeAt(0), complete: false, tasks_worked: [] };

  it('the fold of iterations passes over an earlier one that is not there, and starts a later one', () => {
    const played = started().fold({ type: 'iteration.completed', data: { number: 2 } });
    expect(played.state.history.iterations).toEqual([running]);
    played.fold({ type: 'task.status', data: { task: 'TAS-1', status: 'blocked', iteration: 4 } });
    expect(played.state.history.iterations).toMatchObject([running, { number: 4, implied: true }]);
  });
});
