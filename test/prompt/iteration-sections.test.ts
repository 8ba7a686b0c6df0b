import { describe, expect, it } from 'vitest';
import { runStatus } from '../../src/memory/session/plan-status.js';
import { boardCounts } from '../../src/memory/session/task-board.js';
import { Played, withTasks } from '../support/played.js';
import { promptOf } from './iterations.js';

/** What stands for a placeholder, read at the time of the last event. */
const shown = (name: string, { state }: Played) =>
  promptOf(state, {
    template: `{{${name}}}`,
    ...(state.lastEventAt !== '' && { now: state.lastEventAt }),
  });
const tasksOf = (played: Played) => shown('tasks', played);
const historyOf = (played: Played) => shown('history', played);

function mockUp(): Played {
  const played = new Played().after('task-add', { content: 'Setup API routes', priority: 1 });
  played.after('task-add', { content: 'Add validation', dependsOn: 'TAS-1' });
  played.after('task-add', { content: 'Fix auth bug', priority: 0, status: 'in_progress' });
  played.after('task-add', { content: 'Deploy to staging', dependsOn: 'TAS-3', status: 'blocked' });
  played.after('task-add', { content: 'Database schema', priority: 1 });
  played.after('iteration-start', {}).after('iteration-start', {});
  return played.after('task-status', { id: 'TAS-5', status: 'completed' });
}

describe('the tasks of a prompt', () => {
  it('the tasks of a prompt are those of the mock-up, line by line', () => {
    expect(tasksOf(mockUp())).toBe(
      `REMAINING:
  - [P1] [TAS-1] Setup API routes
  - [P2] [TAS-2] Add validation (blocked by: TAS-1)

IN_PROGRESS:
  - [P0] [TAS-3] Fix auth bug

BLOCKED:
  - [P2] [TAS-4] Deploy to staging (depends on: TAS-3)

COMPLETED:
  - [P1] [TAS-5] Database schema [iteration #2]`,
    );
  });

  it('the tasks of a prompt are those that are ready first, in the order of priority, then number', () => {
    const played = withTasks(...'abcdefghijk').after('task-priority', { id: '11', priority: 0 });
    played.after('task-priority', { id: '1', priority: 3 });
    played.after('task-depends', { id: '3', dependsOn: '1' });
    const ids = [...tasksOf(played).matchAll(/\[TAS-(\d+)\]/g)].map(([, number]) => Number(number));
    expect(ids).toEqual([11, 2, 4, 5, 6, 7, 8, 9, 10, 1, 3]);
  });

  it('the tasks of a prompt say why a dependency that will never be done is in the way', () => {
    const played = withTasks('a', 'b', 'c', 'd').after('task-depends', {
      id: '1',
      dependsOn: ['2', '3', '4'],
    });
    played.after('task-delete', { id: '2' }).after('task-status', { id: '3', status: 'cancelled' });
    expect(tasksOf(played)).toContain(
      '- [P2] [TAS-1] a (blocked by: TAS-2, missing, TAS-3, cancelled, TAS-4)',
    );
    played.after('task-status', { id: '1', status: 'blocked' });
    expect(tasksOf(played)).toContain(
      '- [P2] [TAS-1] a (depends on: TAS-2, missing, TAS-3, cancelled, TAS-4)',
    );
  });

  it('the tasks of a prompt show who works on one, and no claim of what is done', () => {
    const played = withTasks('a', 'b').after('task-next', { claim: 'agent-1' });
    expect(tasksOf(played)).toContain('IN_PROGRESS:\n  - [P2] [TAS-1] a (claimed by agent agent-1)');
    played.after('task-status', { id: '1', status: 'completed' });
    expect(tasksOf(played)).toContain('COMPLETED:\n  - [P2] [TAS-1] a');
    expect(tasksOf(played)).not.toContain('agent-1');
  });
});

describe('the counts of a prompt', () => {
  it('the counts of a prompt are ready, blocked or waiting, and completed tasks', () => {
    const { board } = mockUp().state;
    expect(boardCounts(board)).toMatchObject({ ready: 1, waiting: 2, completed: 1 });
  });
});

describe('the history of a prompt', () => {
  it('the history of a prompt is that of the mock-up: the last five, newest first, with their ages', () => {
    const played = new Played();
    const summed = (summary: string) => {
      played
        .after('iteration-start', {})
        .after('iteration-summary', { summary })
        .after('iteration-complete', {});
    };
    summed('Too long ago');
    summed('Set up');
    summed('Planned');
    summed('Added 12 tasks from spec, marked 2 blocked');
    played.wait(41);
    summed('Completed "Setup database models"');
    played.wait(12);
    summed('Completed "Add auth middleware", "Fix login bug"');
    played.wait(2).after('note-add', { content: 'x' });
    expect(historyOf(played)).toBe(
      `- #6 (3min ago): Completed "Add auth middleware", "Fix login bug"
- #5 (18min ago): Completed "Setup database models"
- #4 (1hr 2min ago): Added 12 tasks from spec, marked 2 blocked
- #3 (1hr 5min ago): Planned
- #2 (1hr 8min ago): Set up
- (5 of 6; all: \`throughline tool iteration-list --session demo\`)`,
    );
  });

  it('the history of a prompt names what was completed where there is no summary, else what was worked on', () => {
    const played = withTasks('Add auth', 'Fix "login"', 'Stuck').after('iteration-start', {});
    expect(historyOf(played)).toBe('Nothing yet');
    played.after('task-status', { id: '3', status: 'blocked' });
    expect(historyOf(played)).toMatch(/^- #1 \(1min ago\): Worked on TAS-3 ".+"$/);
    played.after('task-status', { id: '1', status: 'completed' });
    played.after('task-status', { id: '2', status: 'completed' });
    expect(historyOf(played)).toBe('- #1 (3min ago): Completed "Add auth", "Fix "login""');
    // An iteration without either has nothing to say.
    played.after('iteration-start', {}).after('iteration-start', {});
    expect(historyOf(played)).toMatch(/^- #1 \(\d+min ago\): Completed "Add auth", "Fix "login""$/);
  });

  it('the history of a prompt gives a task to the iteration that completed it, not to one that only worked on it', () => {
    const played = withTasks('Long one').after('iteration-start', {});
    played.after('task-status', { id: '1', status: 'in_progress' }).after('iteration-start', {});
    played.after('task-status', { id: '1', status: 'completed' });
    expect(historyOf(played)).toBe(
      '- #2 (1min ago): Completed "Long one"\n- #1 (1min ago): Worked on TAS-1 "Long one"',
    );
  });

  it('the history of a prompt says that there are no iterations before the first', () => {
    expect(historyOf(new Played())).toBe('No iterations yet');
  });
});

describe('the notes of a prompt', () => {
  it('the notes of a prompt are grouped by type, each in the order in which they came', () => {
    const played = new Played().after('note-add', { content: 'Ask first', type: 'decision' });
    played
      .after('note-add', { content: 'No docker' })
      .after('note-add', { content: 'CI fails', type: 'stuck' });
    played
      .after('note-add', { content: 'Run twice', type: 'tip' })
      .after('note-add', { content: 'Slow disk' });
    expect(shown('notes', played)).toBe(
      `## Notes
LEARNING:
  - [NOT-2] No docker
  - [NOT-5] Slow disk

STUCK:
  - [NOT-3] CI fails

TIP:
  - [NOT-4] Run twice

DECISION:
  - [NOT-1] Ask first`,
    );
  });
});

describe('the inbox of a prompt', () => {
  it('the inbox of a prompt holds what is unread, with its age', () => {
    const played = new Played().after('inbox-add', { content: 'one' }).after('inbox-add', { content: 'two' });
    played.wait(58).after('inbox-add', { content: 'three' }).after('inbox-mark-read', { id: '2' });
    expect(shown('inbox', played)).toBe(
      '## Inbox\n- [MSG-1] (1hr 1min ago) from an agent (without a name): one\n- [MSG-3] (1min ago) from an agent (without a name): three',
    );
  });

  it('a message to @human is not for the agent: the status says that it waits for a person', () => {
    const content = '@human Which licence?';
    const played = new Played().after('inbox-add', { content });
    expect(shown('inbox', played)).toBe('');
    expect(runStatus(played.state).waiting).toEqual([
      `message MSG-1 from an agent (without a name): ${content}`,
    ]);
    played.after('inbox-mark-read', { id: '1', person: true });
    expect(runStatus(played.state).waiting).toEqual([]);
  });
});
