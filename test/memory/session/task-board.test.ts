import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../../src/memory/session/task-board.js';
import { Played, timeAt } from '../../support/played.js';

type NewTaskEvent<Event = TaskEvent> = Event extends TaskEvent ? Pick<Event, 'type' | 'data'> : never;

const added = (task: string, more: object = {}): NewTaskEvent => ({
  type: 'task.added',
  data: { task, content: task, status: 'remaining', priority: 2, depends_on: [], iteration: 1, ...more },
});
const given = (...events: NewTaskEvent[]) =>
  events.reduce((played, event) => played.fold(event), new Played());

/** TAS-7 as it is after these events. */
const folded = (...events: NewTaskEvent[]) => given(added('TAS-7'), ...events).task('TAS-7');

const about = { task: 'TAS-7', iteration: 3 };
const TASK = {
  id: 'TAS-7',
  content: 'TAS-7',
  status: 'remaining',
  priority: 2,
  depends_on: [],
  created_at: timeAt(0),
  updated_at: timeAt(1),
  iteration: 1,
};

describe('the fold of a task', () => {
  it('the fold of a task is what was added', () => {
    const more = { content: 'x', status: 'blocked', priority: 0, depends_on: ['TAS-1'], iteration: 0 };
    expect(given(added('TAS-7', more)).task('TAS-7')).toEqual({ ...TASK, ...more, updated_at: timeAt(0) });
  });

  it('the fold of a task takes status and iteration from task.status', () => {
    expect(folded({ type: 'task.status', data: { ...about, status: 'completed' } })).toEqual({
      ...TASK,
      status: 'completed',
      iteration: 3,
    });
  });

  it('the fold of a task takes priority and content, and nothing else, from their events', () => {
    expect(folded({ type: 'task.priority', data: { ...about, priority: 0 } })).toEqual({
      ...TASK,
      status_at: TASK.created_at,
      priority: 0,
    });
    expect(folded({ type: 'task.content', data: { ...about, content: 'y' } })).toEqual({
      ...TASK,
      status_at: TASK.created_at,
      content: 'y',
    });
  });

  it('the fold of a task adds dependencies once each, in the order in which they came, and removes them', () => {
    const depends = (...depends_on: string[]): NewTaskEvent => ({
      type: 'task.depends',
      data: { ...about, depends_on },
    });
    const none = (...depends_on: string[]): NewTaskEvent => ({
      type: 'task.undepends',
      data: { ...about, depends_on },
    });
    expect(folded(depends('TAS-9', 'TAS-2'), depends('TAS-2', 'TAS-1'))?.depends_on).toEqual([
      'TAS-9',
      'TAS-2',
      'TAS-1',
    ]);
    expect(folded(depends('TAS-9', 'TAS-2', 'TAS-1'), none('TAS-1', 'TAS-9', 'TAS-5'))?.depends_on).toEqual([
      'TAS-2',
    ]);
  });

  it('a task is claimed and released in the fold', () => {
    const claimed: NewTaskEvent = { type: 'task.claimed', data: { ...about, agent: 'x' } };
    expect(folded(claimed)).toEqual({ ...TASK, status: 'in_progress', claimed_by: 'x', iteration: 3 });
    expect(folded(claimed, { type: 'task.released', data: about })).toEqual({
      ...TASK,
      updated_at: timeAt(2),
      iteration: 3,
    });
  });

  it('a task is gone from the fold once it is deleted, and its number with it', () => {
    const played = given(added('TAS-7'), { type: 'task.deleted', data: about });
    expect(played.state.board).toEqual({ tasks: new Map(), lastNumber: 7, planned: new Map() });
  });

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
