import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_INIT_SUBJECT } from '../../src/contracts/request-names.js';
import { hashOf } from '../../src/shared/hash.js';
import { planSystemOfFile, runReplyOf, TASKS_MD } from '../support/runs.js';
import {
  allDealtWith,
  eventsOf,
  freshState,
  implemented,
  newestOf,
  newSession,
  publishWire,
  reviewed,
  type System,
} from '../support/system.js';

const { folder, system } = await planSystemOfFile();

async function init(request: Parameters<System['client']['initRun']>[0]) {
  return runReplyOf(await system.client.initRun(request));
}

async function status(session: string) {
  return runReplyOf(await system.client.runStatus(session));
}

async function typesOf(session: string): Promise<string[]> {
  return (await eventsOf(system, session)).map(({ event }) => event.type);
}

describe('run.init', () => {
  it('run.init with a file makes its tasks the progress of the session, as one event', async () => {
    const session = newSession('init');
    const tasksPath = await folder.write('init.md', TASKS_MD);
    const { run, tasks, problems, sequence } = await init({
      session,
      spec: ' parser ',
      goal: 'a parser',
      tasksPath,
    });
    expect(run).toEqual({
      spec: 'parser',
      goal: 'a parser',
      source: { kind: 'file', path: tasksPath },
      fingerprint: { mtimeMs: expect.any(Number), hash: hashOf(TASKS_MD) },
      totals: { total: 5, completed: 2, inProgress: 1, pending: 2 },
      active_task_id: '2.2',
      next_task_id: '2.2',
      problems: 0,
      guesses: 0,
      unnamed: 0,
    });
    expect({ tasks, problems }).toEqual({ tasks: [], problems: [] });
    expect(sequence).toBe(await newestOf(system, session));
    expect(await typesOf(session)).toEqual(['run.initialized']);
    expect((await freshState(system, session)).run?.document.tasks).toMatchObject([
      { id: '1', text: 'Write the lexer', status: 'completed' },
      { id: '2', status: 'in-progress' },
      { id: '2.1', parent: '2', requirements: ['1.2', '3'] },
      { id: '2.2', status: 'pending' },
      { id: '3', optional: true },
    ]);
  });

  it('run.init takes a path from the first root', async () => {
    await folder.write('relative.md', TASKS_MD);
    const { run } = await init({ session: newSession('init'), spec: 'parser', tasksPath: 'relative.md' });
    expect(run?.source).toEqual({ kind: 'file', path: 'relative.md' });
  });

  it('a second run.init replaces the run, and keeps the outcomes of dispatches', async () => {
    const session = newSession('init');
    await publishWire(system.client, 'implementer', session, implemented('2.2'));
    await allDealtWith(system.ports);
    await init({ session, spec: 'first', goal: 'one', tasksText: TASKS_MD });
    const { run, tasks } = await init({ session, spec: 'second', tasksText: '- [ ] 7. Other' });
    expect(run).toMatchObject({ spec: 'second', goal: 'one', active_task_id: '7' });
    expect(tasks).toMatchObject([{ task: '2.2', dispatches: 1 }]);
  });
});

describe('run.init that cannot be done', () => {
  const refused = async (request: object) => {
    const body = JSON.stringify({ session: 'refused', spec: 'parser', ...request });
    const reply = await system.ports.connection.request(RUN_INIT_SUBJECT, body, { timeout: 5000 });
    const { error } = reply.json<{ error: { code: string; message: string; details?: unknown } }>();
    return { status: Number(reply.headers?.get('Nats-Service-Error-Code')), ...error };
  };

  it('run.init without its file fails with progress_ledger_missing_tasks and the path', async () => {
    const tasksPath = join(folder.path, 'none.md');
    expect(await refused({ tasksPath })).toEqual({
      status: 404,
      code: 'progress_ledger_missing_tasks',
      message: expect.stringMatching(/none\.md: does not exist/),
      details: { path: tasksPath },
    });
  });

  it('run.init with a file of prose fails with progress_ledger_parse_failed, its path and a line', async () => {
    const tasksPath = await folder.write('prose.md', '# The parser\n\nIt reads queries, and more.\n');
    expect(await refused({ tasksPath })).toEqual({
      status: 422,
      code: 'progress_ledger_parse_failed',
      message: expect.stringMatching(
        /prose\.md holds no task that can be read \(line \d+: .+\); plans that are read: /,
      ),
      details: { path: tasksPath },
    });
  });

  it.each([
    ['neither file nor document', {}, /tasksPath: give either tasksPath, .*, or tasksText/],
    ['both', { tasksPath: 'a.md', tasksText: TASKS_MD }, /tasksPath: give either/],
    ['an empty spec', { spec: ' ', tasksText: TASKS_MD }, /spec: must not be empty/],
    ['an empty path', { tasksPath: '' }, /tasksPath: must not be empty/],
    ['a number for the document', { tasksText: 7 }, /tasksText is 7: use text/],
    ['a document of a million characters', { tasksText: 'x'.repeat(800_001) }, /at most 800000 characters/],
  ])('run.init fails with schema_invalid for %s', async (_what, request, message) => {
    expect(await refused(request)).toMatchObject({
      status: 400,
      code: 'schema_invalid',
      message: expect.stringMatching(message),
    });
  });

  it('run.init leaves no trace in the session when it fails', async () => {
    expect(await typesOf('refused')).toEqual([]);
  });
});

describe('run.status', () => {
  it('run.status says what each task needs next, the most recently mentioned one last', async () => {
    const session = newSession('status');
    await init({ session, spec: 'parser', tasksText: TASKS_MD });
    await publishWire(system.client, 'implementer', session, implemented('2.2'));
    await publishWire(system.client, 'reviewer', session, reviewed('2.1', 'approved'));
    await publishWire(
      system.client,
      'reviewer',
      session,
      reviewed('2.2', 'needs_changes', { required_fixes: ['a', 'b'] }),
    );
    await allDealtWith(system.ports);
    const sequence = await newestOf(system, session);
    expect(await status(session)).toMatchObject({
      session: { name: session, sequence, dispatches: { implementer: 1, reviewer: 2, rejected: 0 } },
      run: { spec: 'parser', totals: { total: 5, completed: 2 } },
      tasks: [
        { task: '2.1', last_outcome: 'reviewer_approved', next_action: 'next_task', required_fixes: 0 },
        { task: '2.2', next_action: 'dispatch_fixes', required_fixes: 2, dispatches: 2, stalled: false },
      ],
      sequence,
    });
  });
});
