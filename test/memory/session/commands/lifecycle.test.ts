import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, type CommandName } from '../../../../src/memory/session/commands/decide-session.js';
import { overview } from '../../../../src/memory/session/commands/lifecycle-commands.js';
import { implementer, recorded, reviewer, timeOf } from '../../../support/builders.js';
import { progressTask, runInitialized } from '../../../support/ledgers.js';
import { argumentsOf, type Given, Played, timeAt, withTasks } from '../../../support/played.js';

it('session-open changes the title as often as it is given, and a title binds the session to no project', () => {
  const played = new Played().after('session-open', { title: 'Parser' });
  expect(played.when('session-open', { title: 'Query parser', project: 'query' })).toMatchObject({
    event: { data: { title: 'Query parser', project: 'query' } },
    reply: { session: { title: 'Query parser', project: 'query' } },
  });
});

describe('session-complete', () => {
  it('session-complete ends a session whose tasks are all completed or cancelled', () => {
    const played = withTasks('a', 'b').after('task-status', { id: '1', status: 'completed' });
    played.after('task-status', { id: '2', status: 'cancelled' });
    expect(played.when('session-complete', {})).toMatchObject({
      event: { type: 'session.completed', data: { forced: false } },
      reply: { session: { status: 'completed' } },
    });
    expect(played.when('session-complete', {}), 'again: the same answer, no event').toEqual({
      reply: { session: expect.objectContaining({ status: 'completed' }) },
    });
  });

  it('session-complete is refused while tasks are open, listing them', () => {
    const played = withTasks('a', 'b', 'c', 'd').after('task-status', { id: '1', status: 'completed' });
    played.after('task-status', { id: '3', status: 'in_progress' });
    played.after('task-status', { id: '4', status: 'blocked' });
    expect(played.when('session-complete', {})).toEqual({
      refused: {
        code: 'open_tasks',
        message: expect.stringMatching(
          /^3 tasks are open: TAS-2 \(pending\), TAS-3 \(in progress\), TAS-4 \(blocked\)\. .*force and a reason \(--force --reason\)/,
        ),
        details: {
          tasks: [
            { id: 'TAS-2', status: 'remaining', content: 'b' },
            { id: 'TAS-3', status: 'in_progress', content: 'c' },
            { id: 'TAS-4', status: 'blocked', content: 'd' },
          ],
        },
      },
    });
  });

  it('session-complete names the first ten open tasks in the message, and all in the details', () => {
    const { refused } = withTasks(...'abcdefghijkl').when('session-complete', {});
    expect(refused?.message).toMatch(/^12 tasks are open: TAS-1 .* TAS-10 \(pending\) and 2 more\./);
    expect(refused?.details).toMatchObject({ tasks: { length: 12 } });
    expect(withTasks('a').when('session-complete', {}).refused?.message).toMatch(/^1 task is open: TAS-1/);
    const tasks = [progressTask('T1'), { ...progressTask('T2'), optional: true as const }];
    const planned = new Played().foldWhole(runInitialized(tasks));
    expect(planned.when('session-complete', {}).refused?.message).toMatch(/^1 task is open: T1 /);
    planned.foldWhole(recorded(1, reviewer({ task_id: 'T1', assessment: 'approved' })));
    expect(planned.when('session-complete', {}), 'approved, and not ticked').not.toHaveProperty('refused');
  });

  it('session-complete can be forced, with a reason', () => {
    const played = withTasks('a');
    expect(played.when('session-complete', { force: true })).toMatchObject({
      refused: { code: 'schema_invalid', message: expect.stringMatching(/^reason: /) },
    });
    expect(played.when('session-complete', { reason: 'not enough' })).toMatchObject({
      refused: { code: 'open_tasks' },
    });
    expect(played.when('session-complete', { force: true, reason: 'Out of time' })).toMatchObject({
      event: { data: { forced: true, reason: 'Out of time' } },
      reply: { session: { status: 'completed', completed_reason: 'Out of time' } },
    });
  });

  it('session-complete is refused while reviews ask for fixes of tasks that are not on the board', () => {
    const played = withTasks('a').after('task-status', { id: '1', status: 'completed' });
    const review = (sequence: number, task_id: string, required_fixes: string[]) =>
      played.foldWhole(
        recorded(
          sequence,
          reviewer({
            task_id,
            required_fixes,
            assessment: required_fixes.length === 0 ? 'approved' : 'needs_changes',
          }),
        ),
      );
    review(1, '7', ['Check the length', 'Name the unit']);
    review(2, 'TAS-1', ['On the board, where it is completed']);
    expect(played.when('session-complete', {})).toEqual({
      refused: {
        code: 'open_fixes',
        message:
          'reviews still ask for 2 fixes: 7: "Check the length", 7: "Name the unit". Have their tasks approved, or complete the session anyway with force and a reason (--force --reason)',
        details: {
          fixes: [
            { task: '7', fix: 'Check the length' },
            { task: '7', fix: 'Name the unit' },
          ],
        },
      },
    });
    expect(played.when('session-complete', { force: true })).toMatchObject({
      refused: { code: 'schema_invalid' },
    });
    review(3, '7', []);
    expect(played.when('session-complete', {})).toMatchObject({ event: { data: { forced: false } } });
  });
});

describe('session-restart', () => {
  it('session-restart reopens a completed session, and forgets why it was completed', () => {
    const played = withTasks('a').after('session-complete', { force: true, reason: 'Out of time' });
    const { event, reply } = played.when('session-restart', { reason: 'One more' });
    expect(event).toEqual({ type: 'session.restarted', data: { reason: 'One more' } });
    expect(reply).toMatchObject({ session: { status: 'open' } });
    expect(reply).not.toHaveProperty('session.completed_reason');
    expect(played.when('task-next', { claim: 'x' })).toMatchObject({ reply: { task: { id: 'TAS-1' } } });
  });
});

describe('a completed session', () => {
  const calls: { readonly [Name in CommandName]: Given<Name> } = {
    'task-add': { content: 'new' },
    'task-status': { id: '1', status: 'blocked' },
    'task-priority': { id: '1', priority: 0 },
    'task-depends': { id: '1', dependsOn: '2' },
    'task-undepends': { id: '2', dependsOn: '3' },
    'task-content': { id: '1', content: 'new' },
    'task-delete': { id: '1' },
    'task-next': { claim: 'x' },
    'task-release': { id: '3' },
    'note-add': { content: 'x' },
    'note-edit': { id: '1', content: 'y' },
    'note-delete': { id: '1' },
    'inbox-add': { content: 'x' },
    'inbox-mark-read': { id: '1' },
    'blocker-answer': { task: 'asks', answer: 'x' },
    'iteration-start': {},
    'iteration-complete': {},
    'iteration-summary': { summary: 'x' },
    'session-open': { goal: 'x' },
    'session-complete': {},
    'session-restart': {},
    'session-archive': {},
    'session-reopen': {},
  };
  const answered: CommandName[] = ['session-complete', 'session-reopen'];

  /** Each of the calls would append an event to it, were it open. */
  function open(): Played {
    const played = withTasks('a', 'b', 'c').after('iteration-start', {});
    played
      .after('task-depends', { id: '2', dependsOn: '3' })
      .after('task-priority', { id: '3', priority: 0 });
    played.after('task-next', { claim: 'y' });
    played.foldWhole(recorded(1, implementer({ task_id: 'asks', questions: [{ text: 'Why?' }] })));
    return played.after('note-add', { content: 'n' }).after('inbox-add', { content: 'm' });
  }
  const completed = () => open().after('session-complete', { force: true, reason: 'r' });

  it.each(
    COMMAND_NAMES.filter(
      (name) => (!answered.includes(name) && !name.startsWith('session-')) || name === 'session-open',
    ),
  )('a completed session refuses %s, which an open one takes', (name) => {
    const given = argumentsOf(name, calls[name]);
    expect(open().when(name, given)).toHaveProperty('event');
    expect(completed().when(name, given)).toEqual({
      refused: {
        code: 'session_completed',
        message: 'session demo is completed: use session-restart first',
      },
    });
  });

  it.each(answered)('a completed session answers %s', (name) => {
    const outcome = completed().when(name, argumentsOf(name, calls[name]));
    expect(Object.keys(outcome)).toEqual(['reply']);
  });

  const archived = () => open().after('session-archive', { reason: 'Shipped' });

  it.each(COMMAND_NAMES.filter((name) => !answered.includes(name) && name !== 'session-archive'))(
    'an archived session refuses %s, and says how it is reopened',
    (name) => {
      const { refused } = archived().when(name, argumentsOf(name, calls[name]));
      expect(refused).toMatchObject({
        code: 'session_archived',
        message: expect.stringMatching(
          /^session demo is archived since \S+ \(Shipped\): reopen it first with "throughline session reopen demo"$/,
        ),
      });
    },
  );

  it('an archived session is archived again without an event, and one that is reopened goes on', () => {
    expect(Object.keys(archived().when('session-archive', { reason: 'again' }))).toEqual(['reply']);
    const reopened = archived().after('session-reopen', {});
    expect(reopened.when('task-add', argumentsOf('task-add', { content: 'x' }))).toHaveProperty('event');
    expect(Object.keys(reopened.when('session-reopen', {}))).toEqual(['reply']);
    expect(completed().after('session-archive', {}).when('session-restart', {})).toMatchObject({
      refused: { code: 'session_archived' },
    });
  });
});

describe('the figures of a session', () => {
  it('the figures of a session count everything', () => {
    const played = withTasks('a', 'b', 'c', 'd', 'e').after('session-open', { goal: 'g' });
    played.after('iteration-start', {}).after('iteration-start', {});
    played.after('task-depends', { id: '2', dependsOn: '1' });
    played.after('task-status', { id: '3', status: 'blocked' });
    played.after('task-status', { id: '4', status: 'completed' });
    played.after('task-status', { id: '5', status: 'cancelled' });
    played.after('note-add', { content: 'n' }).after('inbox-add', { content: 'm' });
    played.after('inbox-add', { content: 'm' }).after('inbox-mark-read', { id: '1' });
    played.foldWhole(recorded(4, implementer())).foldWhole(recorded(7, reviewer({ assessment: 'approved' })));
    const counts = {
      total: 5,
      ready: 1,
      waiting: 2,
      remaining: 2,
      in_progress: 0,
      blocked: 1,
      completed: 1,
      cancelled: 1,
    };
    expect(overview(played.state)).toEqual({
      session: {
        name: 'demo',
        status: 'open',
        goal: 'g',
        sequence: 18,
        started_at: timeOf(4),
        last_event_at: timeAt(15),
        iteration: 2,
        board: counts,
        plan: null,
        notes: 1,
        unread: 1,
        facts: 4,
        dispatches: { implementer: 1, reviewer: 1, observer: 0, rejected: 0 },
      },
    });
  });
});

describe('the project of a session', () => {
  it('the project of a session is the default one where its opening named none', () => {
    const played = new Played().after('session-open', { goal: 'A parser' });
    expect(played.when('session-open', { project: 'shop' })).toMatchObject({
      refused: { code: 'project_bound', details: { project: 'default' } },
    });
    expect(played.when('session-open', { project: 'default' })).toHaveProperty('event');
  });

  it('the project of a session may still be named where no event came before', () => {
    const played = new Played().after('note-add', { content: 'x' }).after('session-open', {});
    expect(played.when('session-open', { project: 'shop' })).toHaveProperty('event');
  });
});
