import { describe, expect, it } from 'vitest';
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

  it('the fold of notes is what was added, edited and deleted', () => {
    const played = noted();
    expect(played.state.notebook).toMatchObject({ notes: new Map([['NOT-4', note]]), lastNote: 4 });
    played.fold({ type: 'note.edited', data: { note: 'NOT-4', content: 'y' } });
    played.fold({ type: 'note.edited', data: { note: 'NOT-4', type: 'stuck' } });
    expect(played.state.notebook.notes.get('NOT-4')).toEqual({
      ...note,
      content: 'y',
      type: 'stuck',
      updated_at: timeAt(2),
    });
    played.fold({ type: 'note.deleted', data: { note: 'NOT-4' } });
    expect(played.state.notebook).toMatchObject({ notes: new Map(), lastNote: 4 });
  });

  it('the fold of notes passes over what speaks of a note that is not there', () => {
    const played = noted().fold({ type: 'note.edited', data: { note: 'NOT-1', content: 'y' } });
    played.fold({ type: 'note.deleted', data: { note: 'NOT-1' } });
    expect([...played.state.notebook.notes.values()]).toEqual([note]);
  });
});

describe('the fold of the inbox', () => {
  it('the fold of the inbox is what was added, and whether it was read', () => {
    const played = new Played().fold({ type: 'inbox.added', data: { message: 'MSG-3', content: 'x' } });
    const message = { id: 'MSG-3', content: 'x', created_at: timeAt(0), read: false };
    expect(played.state.notebook).toMatchObject({ inbox: new Map([['MSG-3', message]]), lastMessage: 3 });
    played.fold({ type: 'inbox.read', data: { message: 'MSG-1' } });
    expect(played.state.notebook.inbox.get('MSG-3')).toEqual(message);
    played.fold({ type: 'inbox.read', data: { message: 'MSG-3' } });
    expect([...played.state.notebook.inbox.values()]).toEqual([{ ...message, read: true }]);
  });
});

describe('the fold of iterations', () => {
  const started = () => new Played().fold({ type: 'iteration.started', data: { number: 3 } });
  const running = { number: 3, started_at: timeAt(0), complete: false, tasks_worked: [] };

  it('the fold of iterations is what was started, summed up and completed, in any order', () => {
    const summary = { number: 3, summary: 's', tasks_worked: ['TAS-2'] };
    const ended = { ...running, summary: 's', tasks_worked: ['TAS-2'], complete: true };
    const before = started().fold({ type: 'iteration.summary', data: summary });
    before.fold({ type: 'iteration.completed', data: { number: 3 } });
    expect(before.state.history.iterations).toEqual([{ ...ended, ended_at: timeAt(2) }]);
    const late = started().fold({ type: 'iteration.completed', data: { number: 3 } });
    late.fold({ type: 'iteration.summary', data: summary });
    expect(late.state.history.iterations).toEqual([{ ...ended, ended_at: timeAt(1) }]);
  });

  it('the fold of iterations passes over what speaks of an iteration that is not there', () => {
    const played = started().fold({ type: 'iteration.completed', data: { number: 2 } });
    played.fold({ type: 'iteration.summary', data: { number: 4, summary: 's', tasks_worked: [] } });
    played.fold({ type: 'task.status', data: { task: 'TAS-1', status: 'blocked', iteration: 9 } });
    expect(played.state.history.iterations).toEqual([running]);
  });
});

describe('the fold of the session itself', () => {
  it('the fold of the session itself is what it was opened for, whether it is completed, and why', () => {
    const played = new Played();
    expect(played.state.charter).toEqual({ status: 'open' });
    played.fold({ type: 'session.opened', data: { goal: 'g', spec: 's', spec_path: 'p', project: 'q' } });
    played.fold({ type: 'session.opened', data: { goal: 'h' } });
    const charter = { goal: 'h', spec: 's', spec_path: 'p', project: 'q' };
    expect(played.state.charter).toEqual({ ...charter, status: 'open' });
    played.fold({ type: 'session.completed', data: { forced: true, reason: 'r' } });
    expect(played.state.charter).toEqual({ ...charter, status: 'completed', completed_reason: 'r' });
    played.fold({ type: 'session.restarted', data: {} });
    expect(played.state.charter).toEqual({ ...charter, status: 'open' });
  });
});
