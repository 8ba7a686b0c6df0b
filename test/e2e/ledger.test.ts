import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashOf } from '../../src/shared/hash.js';
import { planSystemOfFile, runReplyOf, TASKS_MD } from '../support/runs.js';
import { eventsOf, freshState, newestOf, newSession } from '../support/system.js';

const { folder, system } = await planSystemOfFile();

describe('run.init', () => {
  it('run.init with a file makes its tasks the progress of the session, as one event', async () => {
    const session = newSession('init');
    const tasksPath = await folder.write('init.md', TASKS_MD);
    const request = { session, spec: ' parser ', goal: 'a parser', tasksPath };
    const { run, tasks, problems, sequence } = runReplyOf(await system.client.runs.init(request));
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
    expect(await eventsOf(system, session)).toMatchObject([{ event: { type: 'run.initialized' } }]);
    expect((await freshState(system, session)).run?.document.tasks).toMatchObject([
      { id: '1', text: 'Write the lexer', status: 'completed' },
      { id: '2', status: 'in-progress' },
      { id: '2.1', parent: '2', requirements: ['1.2', '3'] },
      { id: '2.2', status: 'pending' },
      { id: '3', optional: true },
    ]);
  });
});

describe('run.init that cannot be done', () => {
  it('run.init without its file fails with progress_ledger_missing_tasks and the path', async () => {
    const tasksPath = join(folder.path, 'none.md');
    const body = JSON.stringify({ session: 'refused', spec: 'parser', tasksPath });
    const reply = await system.ports.connection.request('run.init', body, { timeout: 5000 });
    expect(reply.headers?.get('Nats-Service-Error-Code')).toBe('404');
    expect(reply.json<{ error: object }>().error).toEqual({
      code: 'progress_ledger_missing_tasks',
      message: expect.stringMatching(/none\.md: does not exist/),
      details: { path: tasksPath },
    });
  });
});
