import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RequestInput } from '../../src/contracts/requests.js';
import { hashOf } from '../../src/shared/hash.js';
import { planSystemOfFile, runReplyOf, TASKS_MD } from '../support/runs.js';
import { eventsOf, freshState, newestOf, newSession } from '../support/system.js';

const { folder, system } = await planSystemOfFile();

async function init(request: RequestInput<'run.init'>) {
  return runReplyOf(await system.client.runs.init(request));
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
});

describe('run.init that cannot be done', () => {
  const refused = async (request: object) => {
    const body = JSON.stringify({ session: 'refused', spec: 'parser', ...request });
    const reply = await system.ports.connection.request('run.init', body, { timeout: 5000 });
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
});
