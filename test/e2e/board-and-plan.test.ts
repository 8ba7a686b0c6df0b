import { describe, expect, it } from 'vitest';
import { connectThroughline } from '../../src/index.js';
import { startUp } from '../support/cli.js';
import { ofFile } from '../support/of-file.js';
import { TASKS_MD } from '../support/runs.js';
import { type implemented, newSession, publishReview, publishWork } from '../support/system.js';

// The CLI of one system, and the client of an agent's runtime.
const up = await ofFile(startUp());
const client = await ofFile(connectThroughline({ url: up.url }));

/** A session with a plan of five tasks, and tasks of the board with these contents. */
async function begun(...contents: string[]): Promise<string> {
  const session = newSession('picture');
  await client.runs.init({ session, spec: 'parser', tasksText: TASKS_MD });
  for (const content of contents) await client.tools.taskAdd({ session, content });
  return session;
}

const work = (session: string, task: string, more: Parameters<typeof implemented>[1] = {}) =>
  publishWork(client, session, task, more, { wait: true });

describe('board and plan', () => {
  it('board and plan have the same counts in status, a session start and an iteration prompt', async () => {
    const session = await begun('Write the lexer', 'Write the parser', 'Measure', 'Rest');
    await client.tools.taskDepends({ session, id: '4', dependsOn: '2' });
    await publishReview(client, session, 'TAS-1', 'approved', {}, { wait: true });
    await work(session, 'TAS-2');
    await work(session, '2.2', { status: 'failed' });
    const start = await client.compile({ kind: 'session-start', session });
    const iteration = await client.compile({ kind: 'iteration', session });
    const status = await up.cli(['status', session]);
    const { session: told } = await client.runs.status({ session });
    const tasks = await up.cli(['task', 'ls', session]);
    expect(tasks.stdout).toMatch(
      /^TAS-1 .* Write the lexer \(last result: reviewer approved, result \d+\)$/m,
    );

    expect(told.board).toMatchObject({ total: 4, completed: 1, in_progress: 1, ready: 1, waiting: 1 });
    expect(told.plan).toMatchObject({ total: 5, completed: 2, inProgress: 1, pending: 2 });
    const board = 'board: 1 of 4 tasks completed, 1 in progress, 1 ready, 1 waiting';
    expect(status.stdout).toContain(`\n${board}\n`);
    expect(status.stdout).toContain('\nplan: 2 of 5 tasks completed, 1 in progress, 2 pending');
    expect(start.prompt).toContain('Plan: 2 of 5 done, next 2.2 ');
    expect(iteration.prompt).toContain('\nBoard: 1 ready | 1 waiting | 1 completed\nPlan: 2 of 5 done, ');
    // A result of a plan task stands beside it.
    expect(status.stdout).toContain('  2.2    implementer failed, next: a retry (1 result, plan: pending)\n');
    expect(status.stdout).toContain('  TAS-1  reviewer approved, next: ');
    expect(iteration.prompt).toMatch(/\nPlan: .* \(last result: implementer_failed\)\n/);
    expect(iteration.prompt).toContain('[TAS-2] Write the parser (last result: implementer_completed)');
  });
});
