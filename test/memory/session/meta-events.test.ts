import { describe, expect, it } from 'vitest';
import { notesOf } from '../../../src/memory/session/notebook.js';
import { Played, timeAt } from '../../support/played.js';

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
