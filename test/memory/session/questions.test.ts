import { describe, expect, it } from 'vitest';
import { compileRequest } from '../../../src/contracts/compile-request.js';
import type { Role } from '../../../src/contracts/kinds.js';
import type { ResultOf } from '../../../src/contracts/results.js';
import type { FactRecorded } from '../../../src/contracts/session-events.js';
import { notesOf } from '../../../src/memory/session/notebook.js';
import { runStatus, sessionFigures } from '../../../src/memory/session/plan-status.js';
import { factsOf } from '../../../src/memory/session/session-state.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer } from '../../support/builders.js';
import { progressTask, runInitialized } from '../../support/ledgers.js';
import { Played, withTasks } from '../../support/played.js';

const PORT = 'Which port, 9090 or 9464?';
const BLOCKED: Partial<ResultOf<'implementer'>> = {
  task_id: '1',
  status: 'blocked',
  summary: 'Metrics need a port',
  blockers: [PORT],
};
const ANSWER = { task: '1', answer: 'Use 9464.', by: 'anna', person: true } as const;

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
/** The event with the id that the extractor gives its question. */
const withRefs = (event: FactRecorded, ref: string): FactRecorded => ({
  ...event,
  data: { ...event.data, refs: { asks: [ref] } },
});
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

  it('every surface says that a person is needed for a blocked task, until the session is completed', () => {
    const played = asked();
    played.foldWhole(recorded(2, implementer({ ...BLOCKED, task_id: '2', blockers: ['No network'] })));
    const waiting = [`task 1 asks: ${PORT}`, 'task 2 is blocked: No network'];
    expect(runStatus(played.state)).toMatchObject({ waiting, stalled: [] });
    expect(sessionFigures(played.state)).toMatchObject({ waiting, stalled: [] });
    played.foldWhole(recorded(3, implementer({ ...BLOCKED, task_id: '2', blockers: ['No network'] })));
    expect(runStatus(played.state)).toMatchObject({ waiting: waiting.slice(0, 1), stalled: [{ task: '2' }] });
    expect(taskOf(played, '2')).toMatchObject({ next_action: 'retry_with_constraints', stalled: true });
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
  it('an answer to a question with options is the option that it names, else the reply has the options', () => {
    const options = ['9464', '9090'];
    const result = { ...BLOCKED, blockers: [], questions: [{ text: 'Which port?', options }] };
    const played = new Played().foldWhole(recorded(1, implementer(result)));
    expect(sessionFigures(played.state).waiting).toEqual(['task 1 asks: Which port? (9464 | 9090)']);
    const free = played.when('blocker-answer', { ...ANSWER, answer: 'a free one' });
    expect(free.reply).toMatchObject({ answer: { answer: 'a free one' }, options });
    const named = played.when('blocker-answer', { ...ANSWER, answer: '2' });
    expect(named.reply).toMatchObject({ answer: { answer: '9090' } });
    expect(named.reply).not.toHaveProperty('options');
    const { lastEvent } = played.state;
    expect(played.when('blocker-answer', { ...ANSWER, answer: 'the second one' }).reply).toEqual(named.reply);
    expect(played.state.lastEvent).toBe(lastEvent);
  });

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

  it('an answer is a decision in the prompts of other tasks, also after its task is done, until it is answered otherwise', () => {
    const played = asked().after('blocker-answer', ANSWER);
    const decided = `- ${PORT} Use 9464. [N1, anna, 1 Mar]`;
    expect(promptOf(played, '2', 'Write the changelog')).toContain(decided);
    expect(promptOf(played, '1')).not.toContain(decided);
    played.foldWhole(recorded(2, implementer({ task_id: '1', summary: 'Metrics are served' })));
    played.foldWhole(recorded(3, reviewer({ task_id: '1', assessment: 'approved' })));
    expect(promptOf(played, '2', 'Write the changelog')).toContain(decided);
    played.after('blocker-answer', { ...ANSWER, answer: 'No: 9090.', question: 'which port' });
    const unaware = { ...ANSWER, answer: '80', question: 'which port', by: 'ben' };
    const refused = { code: 'conflict', details: { by: 'anna', answer: 'No: 9090.' } };
    expect(played.when('blocker-answer', { ...unaware, replaces: '' })).toMatchObject({
      refused,
    });
    const later = promptOf(played, '2', 'Write the changelog');
    expect(later).toContain(`- ${PORT} No: 9090. (replaces: ${PORT} Use 9464.) [N2, anna, 1 Mar]`);
    expect(later).not.toContain('[N1');
  });

  it('a question is answered by the id of its statement, also one that a conversation left open', () => {
    const played = asked();
    const facts = [{ subject: 'task:claude-0a1b2c', relation: 'asks', object: 'Keep the old log?' }];
    const turn = { task_id: 'claude-0a1b2c', summary: 'Looked at the log', facts };
    const open = () =>
      factsOf(played.state)
        .getValid()
        .filter(({ relation }) => relation === 'asks');
    played.foldWhole(withRefs(recorded(2, { role: 'observer', result: turn }), 'M2'));
    played.foldWhole(withRefs(recorded(3, implementer({ ...BLOCKED, task_id: '7' })), 'M3'));
    expect(sessionFigures(played.state)).toMatchObject({
      waiting: [`task 1 asks: ${PORT}`, `task 7 asks: ${PORT}`, 'question M2: Keep the old log?'],
      asks: [{}, {}, { task: 'M2', text: 'Keep the old log?' }],
    });
    played.after('blocker-answer', { task: 'm2', answer: 'For a week', by: 'anna', person: true });
    const { id = '' } = open().find(({ ref }) => ref === 'M3') ?? {};
    played.after('blocker-answer', { task: id, answer: '80', by: 'anna', person: true });
    played.after('blocker-answer', { task: 'M2', answer: 'For a day', by: 'anna', person: true });
    expect(open().map(({ sourceTaskId }) => sourceTaskId)).toEqual(['1']);
    expect(taskOf(played, '7')?.next_action).toBe('retry');
    expect(promptOf(played, '2', 'x')).toContain(
      '- Keep the old log? For a day (replaces: Keep the old log? For a week) [N3, anna, 1 Mar]',
    );
    expect(JSON.stringify(factsOf(played.state).all())).toContain('"how":"answered"');
  });

  it('a question stays open after the next result of its task, until it is answered or its task approved', () => {
    const open = (...results: Parameters<typeof recorded>[1][]) => {
      const played = asked();
      for (const [at, result] of results.entries()) played.foldWhole(recorded(at + 2, result));
      return factsOf(played.state)
        .getValid()
        .filter(({ relation }) => relation === 'asks').length;
    };
    expect(open()).toBe(1);
    expect(open(implementer({ task_id: '2' }), reviewer({ task_id: '1', assessment: 'needs_changes' }))).toBe(
      1,
    );
    expect(open(reviewer({ task_id: '1', assessment: 'approved' }))).toBe(0);
    expect(open(implementer({ task_id: '1' }))).toBe(1);
    const later = asked().foldWhole(recorded(2, implementer({ task_id: '1' })));
    expect(sessionFigures(later.state).waiting).toEqual([`task 1 asks: ${PORT}`]);
    expect(promptOf(later, '1')).toContain(`- Asked: "${PORT}" No answer yet.`);
    later.after('blocker-answer', ANSWER);
    expect(taskOf(later)).toMatchObject({ next_action: 'dispatch_reviewer' });
    expect(taskOf(later)).not.toHaveProperty('questions');
    expect(promptOf(later, '1')).toContain(`- Asked: "${PORT}" Answered by anna: "Use 9464."`);
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
    expect(runStatus(played.state).run).toMatchObject({ next_task_id: null, why_none: '1 blocked' });
    played.after('blocker-answer', ANSWER);
    expect(runStatus(played.state).run).toMatchObject({ next_task_id: '1' });
  });

  it('an answer to one of two questions leaves the other open', () => {
    const played = new Played();
    const questions = [{ text: 'Which name?' }];
    played.foldWhole(recorded(1, implementer({ ...BLOCKED, questions })));
    expect(played.when('blocker-answer', ANSWER).refused?.message).toContain('task 1 has 2 open questions');
    played.after('blocker-answer', { ...ANSWER, question: 'which name', answer: 'metrics' });
    expect(taskOf(played)).toMatchObject({ next_action: 'wait_for_answer', questions: [{ text: PORT }] });
    played.after('blocker-answer', ANSWER);
    expect(taskOf(played)?.next_action).toBe('retry');
    const prompt = promptOf(played, '1');
    expect(prompt).toContain('Asked: "Which name?" Answered by anna: "metrics"');
    expect(prompt).toContain(`Asked: "${PORT}" Answered by anna: "Use 9464."`);
  });

  it('an answer unblocks a task whose blocker asks nothing', () => {
    const played = asked().after('blocker-answer', ANSWER);
    played.foldWhole(recorded(2, implementer({ ...BLOCKED, blockers: ['No access'] })));
    played.after('blocker-answer', { ...ANSWER, answer: 'You have it now.', replaces: '' });
    expect(taskOf(played)?.next_action).toBe('retry');
    expect(promptOf(played, '1')).toContain('- Asked: "No access" Answered by anna: "You have it now."');
    const unaware = { ...ANSWER, answer: 'Buy one', by: 'ben', replaces: '' };
    expect(played.when('blocker-answer', unaware).refused?.code).toBe('conflict');
  });

  it('the same answer again changes nothing; another one of the same person replaces it, one of another person if it says so, one of an agent does not', () => {
    const played = asked().after('blocker-answer', ANSWER);
    expect(Object.keys(played.when('blocker-answer', ANSWER))).toEqual(['reply']);
    const again = (by: string) => ({ ...ANSWER, answer: '80', by });
    expect(
      promptOf(asked().after('blocker-answer', ANSWER).after('blocker-answer', again('anna')), '1'),
    ).toContain('Answered by anna: "80"');
    const ofAgent = asked().after('blocker-answer', { ...ANSWER, person: undefined });
    expect(promptOf(ofAgent.after('blocker-answer', again('ben')), '1')).toContain('Answered by ben: "80"');
    expect(played.when('blocker-answer', { ...again('anna'), person: undefined }).refused?.code).toBe(
      'conflict',
    );
    const told = 'anna answered "Use 9464.": --replace, ';
    expect(played.when('blocker-answer', again('ben')).refused?.message).toContain(told);
    const byBen = played.after('blocker-answer', { ...again('ben'), replaces: ANSWER.answer });
    expect(promptOf(byBen, '1')).toContain('Answered by ben: "80"');
    expect(
      asked().when('blocker-answer', { ...ANSWER, question: 'Which color?' }).refused?.message,
    ).toContain(`no open question "Which color?"; open: "${PORT}". To tell`);
    expect(asked().when('blocker-answer', { ...ANSWER, task: 'M99' }).refused?.message).toMatch(
      /^no statement M99; "throughline facts demo" lists them/,
    );
  });
});

describe('notes and messages', () => {
  it('a note on what is stuck ends when the task that it names is done', () => {
    const stuck = { content: 'TAS-1 waits for the certificate', type: 'stuck' } as const;
    const held = (played: Played) => [...notesOf(played.state).keys()];
    const onBoard = withTasks('a')
      .after('note-add', stuck)
      .after('note-add', { ...stuck, type: 'tip' });
    expect(held(onBoard)).toEqual(['NOT-1', 'NOT-2']);
    expect(held(onBoard.after('task-status', { id: 'TAS-1', status: 'completed' }))).toEqual(['NOT-2']);
    const approved = withTasks('a').after('note-add', stuck);
    approved.foldWhole(recorded(1, reviewer({ task_id: 'TAS-1', assessment: 'approved' })));
    expect(held(approved)).toEqual([]);
  });

  it('a decision of a note is in the prompt of a task that shares no word with it, and is a statement like any other', () => {
    const played = new Played().after('note-add', {
      content: 'Money is in cents',
      type: 'decision',
      by: 'ann',
      person: true,
    });
    expect(promptOf(played, '2', 'Build the page')).toContain('- Money is in cents [N1, ann, 1 Mar]');
    const [fact] = factsOf(played.state).all();
    expect(fact).toMatchObject({ ref: 'N1', relation: 'decided', origin: 'person', note: { id: 'NOT-1' } });
    played.after('note-edit', { id: 'N1', content: 'Money is in mills', person: true });
    expect(promptOf(played, '2', 'Build the page')).toContain('- Money is in mills [N1, ann, 1 Mar]');
    expect(promptOf(played.after('note-delete', { id: '1', person: true }), '2', 'x')).not.toContain('Money');
  });

  it('a decision that names a task is in its prompt, and a message that names another is not', () => {
    const played = withTasks('a', 'b').after('note-add', {
      content: 'Task 2 must use CRLF line endings',
      type: 'decision',
    });
    played.after('note-add', { content: 'Task 2 is fun', type: 'tip' });
    played.after('inbox-add', { content: 'Freeze until Friday', by: 'ann', person: true });
    played.after('inbox-add', { content: 'TAS-2: please hurry' });
    expect(promptOf(played, 'TAS-2', 'Write the file')).toContain(
      '- Task 2 must use CRLF line endings [N1, 1 Mar]',
    );
    const other = promptOf(played, 'TAS-1', 'Publish');
    expect(other).toContain('- Message MSG-1 from ann: Freeze until Friday');
    expect(other).not.toContain('hurry');
    expect(other).not.toContain('CRLF');
    expect(promptOf(played, 'TAS-2', 'Publish')).toContain(
      '- Message MSG-2 from an agent (without a name): TAS-2: please hurry',
    );
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
    const ids = ['2', '21', '2.1', '2.1.3', 'T001', 'T0011'];
    const tasks = ids.map((id) => progressTask(id));
    const played = new Played()
      .foldWhole(runInitialized(tasks))
      .after('note-add', { content, type: 'stuck' });
    expect(promptOf(played, id, 'x').includes(`- ${content} [N1, 1 Mar]`)).toBe(isShown);
  });
});
