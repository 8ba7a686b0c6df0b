import { describe, expect, it } from 'vitest';
import { argumentsOf, Played, timeAt, withTasks } from '../../../support/played.js';

describe('task-add', () => {
  it('task-add adds TAS-1 with its defaults, and answers with the whole task', () => {
    const { event, reply } = new Played().when('task-add', { content: 'Write the parser' });
    expect(event).toEqual({
      type: 'task.added',
      data: {
        task: 'TAS-1',
        content: 'Write the parser',
        status: 'remaining',
        priority: 2,
        depends_on: [],
        iteration: 0,
      },
    });
    expect(reply).toEqual({
      task: {
        id: 'TAS-1',
        content: 'Write the parser',
        status: 'remaining',
        priority: 2,
        depends_on: [],
        created_at: timeAt(0),
        updated_at: timeAt(0),
        iteration: 0,
        unresolved: [],
      },
    });
  });

  it.each([-1, 5, 1.5, Number.NaN, '0', null])(
    'task-add refuses %j as a priority and says which there are',
    (priority) => {
      expect(() => argumentsOf('task-add', { content: 'x', priority })).toThrow(
        expect.objectContaining({
          code: 'schema_invalid',
          message: expect.stringMatching(/^priority: .*from 0 \(critical\) to 4 \(backlog\)/),
        }),
      );
    },
  );

  it.each(['', '  \n\t', undefined, 7, 'x'.repeat(10_001)])('task-add refuses the content %j', (content) => {
    expect(() => argumentsOf('task-add', { content })).toThrow(
      expect.objectContaining({
        code: 'schema_invalid',
        message: expect.stringMatching(/^content(: must | is missing$| is 7: use text$)/),
      }),
    );
  });

  it('task-add refuses a dependency that is not there', () => {
    const played = withTasks('a');
    expect(played.when('task-add', { content: 'b', dependsOn: ['TAS-1', 'TAS-2'] })).toEqual({
      refused: { code: 'not_found', message: 'no task "TAS-2"; known: TAS-1', details: { id: 'TAS-2' } },
    });
    expect(played.state.board.lastNumber, 'no number was used up').toBe(1);
  });
});

describe('a task with the same content', () => {
  it.each([
    'Write the Parser',
    '  Write the Parser\n',
    'WRITE THE PARSER',
    'write the parser',
    'Ｗrite the Parser',
  ])('a task with the same content is refused with the id of the open one: %j', (content) => {
    const refused = withTasks('other', 'Write the Parser').when('task-add', { content });
    expect(refused).toEqual({
      refused: {
        code: 'duplicate',
        message: 'TAS-2 has the same content and is remaining: use that one',
        details: { id: 'TAS-2' },
      },
    });
  });

  it.each(['remaining', 'in_progress', 'blocked'] as const)(
    'a task with the same content is refused while the other is %s',
    (status) => {
      const played = withTasks('a').after('task-status', { id: '1', status });
      expect(played.when('task-add', { content: 'A' })).toMatchObject({ refused: { code: 'duplicate' } });
    },
  );

  it.each(['completed', 'cancelled'] as const)(
    'a task with the same content may be added when the other is %s',
    (status) => {
      const played = withTasks('a').after('task-status', { id: '1', status });
      expect(played.when('task-add', { content: 'a' })).toMatchObject({ reply: { task: { id: 'TAS-2' } } });
    },
  );
});
