import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/memory/session/commands/decide-session.js';
import { argumentsOf, Played, timeAt } from '../../../support/played.js';

describe('note-add', () => {
  it('note-add adds NOT-1 as a learning, with the iteration that runs', () => {
    const { event, reply } = new Played()
      .after('iteration-start', {})
      .when('note-add', { content: ' No docker ' });
    expect(event).toEqual({
      type: 'note.added',
      data: { note: 'NOT-1', content: 'No docker', type: 'learning', iteration: 1 },
    });
    expect(reply).toEqual({
      note: {
        id: 'NOT-1',
        content: 'No docker',
        type: 'learning',
        created_at: timeAt(1),
        updated_at: timeAt(1),
        iteration: 1,
      },
    });
  });

  it('note-add refuses any other type, and an empty note', () => {
    expect(() => argumentsOf('note-add', { content: 'x', type: 'rant' })).toThrow(
      /^type is "rant": use one of learning, stuck, tip, decision$/,
    );
    expect(() => argumentsOf('note-add', { content: ' ' })).toThrow(/^content: .*must not be empty/);
  });

  it('note-add does not show a note that another request deleted before the reply', () => {
    const played = new Played();
    const decision = decide('note-add', played.state, argumentsOf('note-add', { content: 'x' }));
    if (decision.kind !== 'append') throw new Error('nothing to append');
    played.fold(decision.event).after('note-delete', { id: '1' });
    expect(() => decision.reply(played.state)).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: 'NOT-1 was changed, and then deleted by another request',
      }),
    );
  });

  it('note-add takes the same text twice: notes are not tasks', () => {
    const played = new Played().after('note-add', { content: 'x' });
    expect(played.when('note-add', { content: 'x' })).toMatchObject({ reply: { note: { id: 'NOT-2' } } });
  });
});

describe('note-edit', () => {
  it('note-edit changes text, type or both', () => {
    const played = new Played().after('note-add', { content: 'x' });
    expect(played.when('note-edit', { id: '1', type: 'tip' })).toEqual({
      event: { type: 'note.edited', data: { note: 'NOT-1', type: 'tip' } },
      reply: {
        note: expect.objectContaining({
          content: 'x',
          type: 'tip',
          created_at: timeAt(0),
          updated_at: timeAt(1),
        }),
      },
    });
    expect(played.when('note-edit', { id: 'not-1', content: 'y' })).toMatchObject({
      event: { data: { note: 'NOT-1', content: 'y' } },
      reply: { note: { content: 'y', type: 'tip' } },
    });
  });

  it('note-edit refuses to change nothing, and what is not there', () => {
    const played = new Played().after('note-add', { content: 'x' });
    expect(played.when('note-edit', { id: '1' })).toMatchObject({
      refused: { code: 'schema_invalid', message: 'content: give content, type or both' },
    });
    expect(played.when('note-edit', { id: '2', content: 'y' })).toMatchObject({
      refused: { code: 'not_found' },
    });
  });
});

describe('note-delete and note-list', () => {
  it('note-delete and note-list take a note away for good: its id does not come again', () => {
    const played = new Played()
      .after('note-add', { content: 'x' })
      .after('note-add', { content: 'y', type: 'stuck' });
    expect(played.when('note-delete', { id: '2' })).toEqual({
      event: { type: 'note.deleted', data: { note: 'NOT-2' } },
      reply: { note: null, deleted: 'NOT-2' },
    });
    expect(played.when('note-delete', { id: '2' })).toMatchObject({ refused: { code: 'not_found' } });
    played.after('note-add', { content: 'z', type: 'stuck' });
    expect(played.when('note-list', {}).reply).toMatchObject({ notes: [{ id: 'NOT-1' }, { id: 'NOT-3' }] });
    expect(played.when('note-list', { type: 'stuck' }).reply).toMatchObject({ notes: [{ id: 'NOT-3' }] });
    expect(played.when('note-list', { type: 'tip' })).toEqual({ reply: { notes: [] } });
  });
});

describe('the inbox', () => {
  it('the inbox takes messages, each with an id of its own', () => {
    const played = new Played();
    expect(played.when('inbox-add', { content: ' Look at the build ' })).toEqual({
      event: { type: 'inbox.added', data: { message: 'MSG-1', content: 'Look at the build' } },
      reply: { message: { id: 'MSG-1', content: 'Look at the build', created_at: timeAt(0), read: false } },
    });
    expect(played.when('inbox-add', { content: 'x' })).toMatchObject({ reply: { message: { id: 'MSG-2' } } });
    expect(() => argumentsOf('inbox-add', { content: '' })).toThrow(/^content: /);
  });

  it('the inbox marks a message as read: the second time the same answer, and no event', () => {
    const played = new Played().after('inbox-add', { content: 'x' }).after('inbox-add', { content: 'y' });
    const first = played.when('inbox-mark-read', { id: 'msg-1' });
    expect(first.event).toEqual({ type: 'inbox.read', data: { message: 'MSG-1' } });
    expect(first.reply).toMatchObject({ message: { id: 'MSG-1', read: true } });
    expect(played.when('inbox-mark-read', { id: '1' })).toEqual({ reply: first.reply });
    expect(played.when('inbox-mark-read', { id: '3' })).toMatchObject({ refused: { code: 'not_found' } });
  });

  it('the inbox lists unread messages, and with all every message', () => {
    const played = new Played().after('inbox-add', { content: 'x' }).after('inbox-add', { content: 'y' });
    played.after('inbox-mark-read', { id: '1' });
    expect(played.when('inbox-list', {}).reply).toMatchObject({ messages: [{ id: 'MSG-2', read: false }] });
    expect(played.when('inbox-list', { all: true }).reply).toMatchObject({
      messages: [
        { id: 'MSG-1', read: true },
        { id: 'MSG-2', read: false },
      ],
    });
  });
});
