import { describe, expect, it } from 'vitest';
import type { ToolInput } from '../../../../src/contracts/requests.js';
import type { CommandName } from '../../../../src/memory/session/commands/decide-session.js';
import { MOST } from '../../../../src/memory/session/commands/session-decision.js';
import { Played } from '../../../support/played.js';

/** So long that a hundred of them take all the room for text. */
const LONG = 'x'.repeat(MOST.text / 100);

const TASK = { content: 'x', status: 'remaining' as const, priority: 2, iteration: 0 };

function used<Name extends CommandName>(
  times: number,
  tool: Name,
  args: (n: number) => Omit<ToolInput<Name>, 'session'>,
): Played {
  const played = new Played();
  for (let n = 1; n <= times; n += 1) played.after(tool, args(n));
  return played;
}

const limitReached = (message: string) => ({
  refused: expect.objectContaining({ code: 'limit_reached', message: expect.stringContaining(message) }),
});

describe('a session', () => {
  it('a session takes no more notes than it may hold, until one is deleted', () => {
    const played = used(MOST.notes, 'note-add', (n) => ({ content: `note ${n}` }));
    const full = `the session holds ${MOST.notes} notes, the limit is ${MOST.notes}: delete outdated ones with note-delete`;
    expect(played.when('note-add', { content: 'one more' })).toMatchObject(limitReached(full));
    expect(played.when('note-edit', { id: '1', content: 'still allowed' })).toHaveProperty('event');
    expect(played.after('note-delete', { id: '1' }).when('note-add', { content: 'x' })).toHaveProperty(
      'event',
    );
  });

  it('a session takes no more text in notes than it may hold, also by an edit', () => {
    const played = used(100, 'note-add', (n) => ({ content: String(n).padEnd(LONG.length, 'x') }));
    const full = `content: all notes of the session would have ${MOST.text + 1} characters`;
    expect(played.when('note-add', { content: 'x' })).toMatchObject(limitReached(full));
    expect(played.when('note-edit', { id: '1', content: LONG })).toHaveProperty('event');
    const shorter = played
      .after('note-edit', { id: '1', content: 'short' })
      .after('note-add', { content: 'x' });
    expect(shorter.when('note-edit', { id: '1', content: LONG })).toMatchObject(limitReached(full));
  });

  it('a session takes no more unread messages, and in the end no more messages at all', () => {
    const played = used(MOST.unread, 'inbox-add', (n) => ({ content: `message ${n}` }));
    expect(played.when('inbox-add', { content: 'x' })).toMatchObject(
      limitReached(`the session holds ${MOST.unread} unread messages`),
    );
    for (let n = 1; n < MOST.messages; n += 1) {
      if (n > MOST.unread) played.fold({ type: 'inbox.added', data: { message: `MSG-${n}`, content: 'x' } });
      played.fold({ type: 'inbox.read', data: { message: `MSG-${n}` } });
    }
    played.after('inbox-add', { content: 'the last one' });
    expect(played.when('inbox-add', { content: 'x' })).toMatchObject(
      limitReached(
        `the session holds ${MOST.messages} messages, the limit is ${MOST.messages}: go on in a new session`,
      ),
    );
  });

  it('a session takes no more tasks, and no more text in them, than it may hold', () => {
    const many = new Played();
    for (let n = 1; n <= MOST.tasks; n += 1)
      many.fold({ type: 'task.added', data: { ...TASK, task: `TAS-${n}`, depends_on: [] } });
    expect(many.when('task-add', { content: 'x' })).toMatchObject(
      limitReached(`the session holds ${MOST.tasks} tasks`),
    );
    const long = used(100, 'task-add', (n) => ({ content: String(n).padEnd(LONG.length, 'x') }));
    const full = limitReached(`content: all tasks of the session would have ${MOST.text + 1} characters`);
    expect(long.when('task-add', { content: 'x' })).toMatchObject(full);
    const shorter = long
      .after('task-content', { id: '1', content: 'short' })
      .after('task-add', { content: 'y' });
    expect(shorter.when('task-content', { id: '1', content: LONG })).toMatchObject(full);
  });
});
