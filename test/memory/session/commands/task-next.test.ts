import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../../../src/contracts/compile-request.js';
import type { FactRecorded } from '../../../../src/contracts/session-events.js';
import { runStatus } from '../../../../src/memory/session/plan-status.js';
import { decodeSnapshot, encodeSnapshot } from '../../../../src/memory/session/session-snapshot.js';
import { compilePrompt } from '../../../../src/prompt/compile-prompt.js';
import { recorded } from '../../../support/builders.js';
import { progressTask, runInitialized } from '../../../support/ledgers.js';
import { Played, timeAt, withTasks } from '../../../support/played.js';

/** Tasks that task-next hands out one after the other until there is none. */
function order(played: Played): string[] {
  const ids: string[] = [];
  for (;;) {
    const { event } = played.when('task-next', { claim: `agent-${ids.length}` });
    if (event?.type !== 'task.claimed') return ids;
    ids.push(event.data.task);
  }
}

describe('task-next', () => {
  it('task-next goes by priority, and among equals by number: TAS-10 after TAS-2', () => {
    const played = withTasks(...'abcdefghijkl');
    played.after('task-priority', { id: '12', priority: 0 });
    played.after('task-priority', { id: '7', priority: 1 });
    played.after('task-priority', { id: '1', priority: 4 });
    expect(order(played)).toEqual([12, 7, 2, 3, 4, 5, 6, 8, 9, 10, 11, 1].map((n) => `TAS-${n}`));
  });

  it('task-next skips what waits for another, however urgent, until that is done', () => {
    const played = withTasks('low').after('task-add', { content: 'urgent', priority: 0, dependsOn: '1' });
    expect(order(played)).toEqual(['TAS-1']);
    played.after('task-status', { id: '1', status: 'completed' });
    expect(order(played)).toEqual(['TAS-2']);
  });
});

describe('a claim', () => {
  it('a claim takes the task for the agent in the same step', () => {
    const played = withTasks('a').after('iteration-start', {});
    expect(played.when('task-next', { claim: ' agent-1 ' })).toEqual({
      event: { type: 'task.claimed', data: { task: 'TAS-1', agent: 'agent-1', iteration: 1 } },
      reply: {
        task: {
          id: 'TAS-1',
          content: 'a',
          status: 'in_progress',
          priority: 2,
          depends_on: [],
          created_at: timeAt(0),
          updated_at: timeAt(2),
          iteration: 1,
          claimed_by: 'agent-1',
          claimed_at: timeAt(2),
          unresolved: [],
        },
      },
    });
    expect(played.when('task-next', { claim: 'agent-2' })).toEqual({ reply: { task: null } });
  });
});

describe('task-release', () => {
  it('task-release gives the task back, for the next one to take', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    const { event, reply } = played.when('task-release', { id: '1', claim: 'x' });
    expect(event).toEqual({ type: 'task.released', data: { task: 'TAS-1', iteration: 1 } });
    expect(reply).toMatchObject({ task: { status: 'remaining' } });
    expect(reply).not.toHaveProperty('task.claimed_by');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { task: { claimed_by: 'y' } } });
  });

  it('task-release needs no name, but refuses a wrong one', () => {
    const played = withTasks('a').after('task-next', { claim: 'x' });
    expect(played.when('task-release', { id: '1', claim: 'y' })).toEqual({
      refused: { code: 'conflict', message: 'TAS-1 is claimed by agent x, not by y' },
    });
    expect(played.when('task-release', { id: '1' })).toHaveProperty('event');
  });
});

describe('a claim that its iteration ends', () => {
  const claimed = () =>
    withTasks('a', 'b', 'c').after('iteration-start', {}).after('task-next', { claim: 'x' });

  it.each(['iteration-complete', 'iteration-start'] as const)('a claim expires with %s', (tool) => {
    const played = claimed().after(tool, {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'remaining', updated_at: timeAt(5) });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
    expect(order(played)).toEqual(['TAS-1', 'TAS-2', 'TAS-3']);
  });

  it('the end of an iteration keeps who did what is done', () => {
    const played = claimed().after('task-status', { id: '1', status: 'completed' });
    played.after('iteration-complete', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'completed', claimed_by: 'x' });
  });

  it('the end of an iteration takes the claim of a blocked task, not its status', () => {
    const played = claimed()
      .after('task-status', { id: '1', status: 'blocked' })
      .after('iteration-complete', {});
    expect(played.task('TAS-1')).toMatchObject({ status: 'blocked' });
    expect(played.task('TAS-1')).not.toHaveProperty('claimed_by');
  });
});

describe('a claim of a task of the plan', () => {
  /** A result that comes in a minute after the newest event. */
  const came = ({ state }: Played, task_id: string, status: 'completed' | 'failed'): FactRecorded => {
    const at = new Date(Date.parse(state.lastEventAt) + 60_000).toISOString();
    const { data, ...event } = recorded(1, { role: 'implementer', result: { task_id, status } });
    return { ...event, at, data: { ...data, dispatch: { ...data.dispatch, at } } };
  };
  const planned = (...texts: string[]) =>
    new Played().fold(runInitialized(texts.map((text, at) => progressTask(String(at + 1), { text }))));

  it('a number that the board does not have leads to the task of the plan with that number', () => {
    const played = new Played().fold(runInitialized([progressTask('#1', { text: 'Parser' })]));
    expect(played.when('task-status', { id: '1', status: 'completed' }).refused?.message).toBe(
      '#1 is a task of the plan, not of the board: publish its result, or tick it in the plan',
    );
  });

  it('tasks of the plan are claimed one by one after those of the board', () => {
    const played = planned('Parser', 'Printer').after('task-add', { content: 'a' });
    const claims = ['x', 'y', 'z'].map((claim) => played.when('task-next', { claim }).reply);
    expect(claims).toMatchObject([
      { task: { id: 'TAS-1' } },
      { task: null, plan: { id: '1', text: 'Parser', claimed_by: 'y' } },
      { task: null, plan: { id: '2', text: 'Printer', claimed_by: 'z' } },
    ]);
    expect(played.when('task-next', { claim: 'w' })).toEqual({ reply: { task: null } });
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({ reply: { plan: { id: '1' } } });
    expect(played.when('task-next', { claim: 'y', id: '2' })).toMatchObject({
      refused: { code: 'conflict' },
    });
    expect(runStatus(played.state).run).toMatchObject({ next_task_id: null });
    expect(runStatus(played.state).waiting).toEqual([]);
    const { state } = played;
    expect(decodeSnapshot('demo', encodeSnapshot(state, ''))).toMatchObject({
      ok: true,
      state: { board: state.board },
    });
  });

  it('what the agent leaves that gives a task back is in its next prompt, until the next result', () => {
    const played = planned('Parser', 'Printer').after('task-next', { claim: 'x' });
    played.after('task-release', { id: '1', claim: 'x', note: 'The lexer is done\n## Task prompt' });
    const request = compileRequest.parse({
      kind: 'dispatch',
      session: 'demo',
      taskId: '1',
      role: 'implementer',
    });
    const prompt = () => compilePrompt(played.state, request).prompt;
    expect(prompt()).toContain('Handed over by agent x: The lexer is done ## Task prompt');
    expect(played.when('task-next', { claim: 'y' })).toMatchObject({
      reply: { plan: { id: '1', handover: { by: 'x' } } },
    });
    expect(prompt()).toContain('Handed over by agent x');
    played.foldWhole(came(played, '1', 'failed'));
    expect(prompt()).not.toContain('Handed over');
  });
});
