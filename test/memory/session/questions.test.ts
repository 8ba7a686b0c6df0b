import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../../src/contracts/compile-request.js';
import type { Role } from '../../../src/contracts/kinds.js';
import type { ResultOf } from '../../../src/contracts/results.js';
import { planView } from '../../../src/memory/session/plan-view.js';
import { runStatus, sessionFigures } from '../../../src/memory/session/run-status.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer } from '../../support/builders.js';
import { Played, withTasks } from '../../support/played.js';

const PORT = 'Which port, 9090 or 9464?';
const BLOCKED: Partial<ResultOf<'implementer'>> = {
  task_id: '1',
  status: 'blocked',
  summary: 'Metrics need a port',
  blockers: [PORT],
};
const ANSWER = { task: '1', answer: 'Use 9464.', by: 'anna' };

/** Half a minute after the first command, before the second. */
const LATER = (Date.UTC(2026, 2, 1) - Date.UTC(2026, 0, 1)) / 1000 + 30;

const asked = (times = 1, played = new Played()) => {
  for (let n = 1; n <= times; n += 1) played.foldWhole(recorded(n, implementer(BLOCKED)));
  return played;
};
const promptOf = (
  { state }: Played,
  taskId: string,
  taskPrompt = 'Serve metrics',
  role: Role = 'implementer',
) => {
  const request = compileRequest.parse({ kind: 'dispatch', session: 'demo', taskId, role, taskPrompt });
  if (request.kind !== 'dispatch') throw new Error('not a dispatch request');
  return compilePrompt(state, request).prompt;
};
const taskOf = ({ state }: Played, id = '1') => runStatus(state).tasks.find(({ task }) => task === id);

describe('a question', () => {
  it('a blocked result whose blocker asks something waits for an answer, and is never stalled', () => {
    const played = asked(3);
    expect(taskOf(played)).toMatchObject({
      next_action: 'wait_for_answer',
      questions: [{ text: PORT }],
      stalled: false,
    });
    expect(sessionFigures(played.state).waiting[0]).toBe(`task 1 asks: ${PORT}`);
    const prompt = promptOf(played, '1');
    expect(prompt).toContain(`- Asked: "${PORT}" No answer yet.`);
    expect(prompt).not.toContain('Replan');
    expect(prompt.split(PORT)).toHaveLength(2);
  });

  it('a blocked result that asks nothing is retried and stalls as before', () => {
    const played = new Played();
    for (const n of [1, 2])
      played.foldWhole(recorded(n, implementer({ ...BLOCKED, blockers: ['No network'] })));
    expect(taskOf(played)).toMatchObject({ next_action: 'retry_with_constraints', stalled: true });
  });

  it('every surface says that a person is needed for a blocked task, until the session is completed', () => {
    const played = asked();
    played.foldWhole(recorded(2, implementer({ ...BLOCKED, task_id: '2', blockers: ['No network'] })));
    const waiting = [`task 1 asks: ${PORT}`, 'task 2 is blocked: "throughline status --task 2" shows why'];
    expect(runStatus(played.state)).toMatchObject({ waiting, stalled: [] });
    expect(sessionFigures(played.state)).toMatchObject({ waiting, stalled: [] });
    played.foldWhole(recorded(3, implementer({ ...BLOCKED, task_id: '2', blockers: ['No network'] })));
    expect(runStatus(played.state)).toMatchObject({ waiting: waiting.slice(0, 1), stalled: [{ task: '2' }] });
    played.after('session-complete', { force: true, reason: 'No longer needed' });
    expect(runStatus(played.state)).toMatchObject({ waiting: [], stalled: [] });
  });

  it('a completed result may ask as well: the work goes on with the default', () => {
    const questions = [{ text: 'Semicolons?', options: ['yes', 'no'], default: 'yes' }];
    const played = new Played().foldWhole(recorded(1, implementer({ task_id: '1', questions })));
    expect(taskOf(played)).toMatchObject({ next_action: 'dispatch_reviewer', questions });
    expect(promptOf(played, '1')).toContain(
      '- Asked: "Semicolons?" (yes | no) No answer yet; go on with "yes".',
    );
    played.foldWhole(recorded(2, reviewer({ task_id: '1', assessment: 'approved' })));
    expect(taskOf(played)).not.toHaveProperty('questions');
  });

  it('a review that is blocked by a question waits for its answer, then the work is reviewed again', () => {
    const played = new Played().foldWhole(recorded(1, implementer({ task_id: '1' })));
    played.foldWhole(
      recorded(2, reviewer({ task_id: '1', assessment: 'blocked', questions: [{ text: PORT }] })),
    );
    expect(taskOf(played)?.next_action).toBe('wait_for_answer');
    expect(taskOf(played.after('blocker-answer', ANSWER))?.next_action).toBe('dispatch_reviewer');
  });
});

describe('an answer', () => {
  it('an answer stands next to its question in every later prompt of the task, and the task goes on', () => {
    const played = asked(3).after('blocker-answer', ANSWER);
    expect(taskOf(played)).toMatchObject({ next_action: 'retry', stalled: false });
    expect(taskOf(played)).not.toHaveProperty('questions');
    const line = `- Asked: "${PORT}" Answered by anna: "Use 9464."`;
    expect(promptOf(played, '1')).toContain(line);
    expect(promptOf(played, '1')).not.toContain('"blockers"');
    expect(sessionFigures(played.state).waiting).toEqual([]);
    played.foldWhole(recorded(4, implementer({ task_id: '1', status: 'failed', summary: 'Port in use' })));
    expect(taskOf(played)).toMatchObject({ stalled: false });
    expect(promptOf(played, '1', 'Serve metrics', 'reviewer')).toContain(line);
  });

  it('an answer is a decision in the prompts of tasks that it fits, and of no others', () => {
    const played = asked().after('blocker-answer', ANSWER);
    expect(promptOf(played, '2', 'Scrape the metrics port from Prometheus, 9464 or 9090')).toContain(
      `- Decided for task 1: ${PORT} Use 9464.`,
    );
    expect(promptOf(played, '3', 'Write the changelog')).not.toContain('Use 9464');
  });

  it.each(['TAS-1', '1'])('an answer to %s opens the task of the board that the question blocked', (task) => {
    const played = withTasks('Serve metrics');
    played.foldWhole(recorded(LATER, implementer({ ...BLOCKED, task_id: 'TAS-1' })));
    expect(played.when('task-next', {})).toMatchObject({ reply: { task: null } });
    played.after('blocker-answer', { ...ANSWER, task });
    expect(played.when('task-next', {})).toMatchObject({
      reply: { task: { id: 'TAS-1', status: 'remaining' } },
    });
  });

  it('an answer leaves a task blocked that someone has blocked by hand', () => {
    const played = withTasks('Serve metrics');
    played.foldWhole(recorded(LATER, implementer({ ...BLOCKED, task_id: 'TAS-1' })));
    played.after('task-status', { id: '1', status: 'blocked', reason: 'Freeze until Friday' });
    played.after('blocker-answer', { ...ANSWER, task: 'TAS-1' });
    expect(played.task('TAS-1')).toMatchObject({ status: 'blocked', reason: 'Freeze until Friday' });
  });

  it('an answer is corrected by another one to the same question', () => {
    const played = asked().after('blocker-answer', ANSWER);
    played.after('blocker-answer', { ...ANSWER, answer: 'No: 9090.', question: PORT });
    const prompt = promptOf(played, '1');
    expect(prompt).toContain('Answered by anna: "No: 9090."');
    expect(prompt).not.toContain('9464."');
    expect(
      Object.keys(played.when('blocker-answer', { ...ANSWER, answer: 'No: 9090.', question: PORT })),
    ).toEqual(['reply']);
  });

  it('an answer opens the task of the plan that the question blocked', () => {
    const played = new Played().fold({
      type: 'run.initialized',
      data: {
        spec: 'p',
        source: { kind: 'document' },
        document: {
          fingerprint: { mtimeMs: 0, hash: '0' },
          tasks: [{ id: '1', text: 'Serve metrics', status: 'pending' }],
          problems: 0,
        },
      },
    });
    asked(1, played);
    expect(planView(played.state, {}).plan).toMatchObject({ next_task_id: null, held: '1 blocked' });
    played.after('blocker-answer', ANSWER);
    expect(planView(played.state, {}).plan).toMatchObject({ next_task_id: '1' });
  });

  it('an answer to one of two questions leaves the other open', () => {
    const played = new Played();
    const questions = [{ text: 'Which name?' }];
    played.foldWhole(recorded(1, implementer({ ...BLOCKED, questions })));
    played.after('blocker-answer', { ...ANSWER, question: 'which name', answer: 'metrics' });
    expect(taskOf(played)).toMatchObject({ next_action: 'wait_for_answer', questions: [{ text: PORT }] });
    played.after('blocker-answer', ANSWER);
    expect(taskOf(played)?.next_action).toBe('retry');
    const prompt = promptOf(played, '1');
    expect(prompt).toContain('Asked: "Which name?" Answered by anna: "metrics"');
    expect(prompt).toContain(`Asked: "${PORT}" Answered by anna: "Use 9464."`);
  });

  it('an answer unblocks a task whose blocker asks nothing', () => {
    const played = new Played().foldWhole(recorded(1, implementer({ ...BLOCKED, blockers: ['No access'] })));
    played.after('blocker-answer', { task: '1', answer: 'You have it now.', by: 'anna' });
    expect(taskOf(played)?.next_action).toBe('retry');
    expect(promptOf(played, '1')).toContain('- Asked: "No access" Answered by anna: "You have it now."');
  });

  it('the same answer again changes nothing, and another one without a question is refused', () => {
    const played = asked().after('blocker-answer', ANSWER);
    expect(Object.keys(played.when('blocker-answer', ANSWER))).toEqual(['reply']);
    expect(played.when('blocker-answer', { ...ANSWER, answer: '80' }).refused).toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^task 1 has no open question\. To tell other tasks, /),
    });
    expect(
      asked().when('blocker-answer', { ...ANSWER, question: 'Which color?' }).refused?.message,
    ).toContain(`no open question "Which color?"; open: "${PORT}". To tell`);
  });
});

describe('notes and messages', () => {
  it('a decision that names a task is in its prompt, and a message that names another is not', () => {
    const played = withTasks('a', 'b').after('note-add', {
      content: 'Task 2 must use CRLF line endings',
      type: 'decision',
    });
    played.after('note-add', { content: 'Task 2 is fun', type: 'tip' });
    played.after('inbox-add', { content: 'Freeze until Friday' });
    played.after('inbox-add', { content: 'TAS-2: please hurry' });
    expect(promptOf(played, '2', 'Write the file')).toContain(
      '- Decision: Task 2 must use CRLF line endings',
    );
    const other = promptOf(played, 'TAS-1', 'Publish');
    expect(other).toContain('- Message MSG-1: Freeze until Friday');
    expect(other).not.toContain('hurry');
    expect(other).not.toContain('CRLF');
    expect(promptOf(played, 'TAS-2', 'Publish')).toContain('- Message MSG-2: TAS-2: please hurry');
    expect(promptOf(played.after('inbox-mark-read', { id: '1' }), 'TAS-1', 'Publish')).not.toContain(
      'Freeze',
    );
  });

  it.each([
    ['2', 'see task 21', false],
    ['2', 'only task-2 counts', true],
    ['2.1', 'after 2.1.3', false],
    ['2.1', 'after 2.1.', true],
    ['T001', 'T0011 differs', false],
  ])('a note for task %s that says %j is in its prompt: %s', (id, content, isShown) => {
    const played = new Played().after('note-add', { content, type: 'stuck' });
    expect(promptOf(played, id, 'x').includes(`- Obstacle: ${content}`)).toBe(isShown);
  });
});
