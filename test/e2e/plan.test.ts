import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partsOf } from '../prompt/parts.js';
import { planSystemOfFile, TASKS_MD } from '../support/runs.js';
import { allDealtWith, freshState, newSession, publishReview, publishWork } from '../support/system.js';

const { folder, system } = await planSystemOfFile();

const KIRO = `# Implementation Plan

- [x] 1. Set up the project
- [ ] 2. Write the lexer
  - _Prompt: Role: compiler engineer | Task: split the text into tokens | Restrictions: no regular expressions_
  - _Requirements: 1.2, 3_
- [!] 3. Ask for the licence
- [ ]* 4. Write a manual
- [ ] 5. Write the parser
  - _Depends: 2, 3, 99_
- [ ] 6. Write the printer
  - _Depends: 2_
`;

async function following(text = KIRO): Promise<string> {
  const session = newSession('plan');
  await system.client.runs.init({ session, spec: 'parser', tasksText: text });
  return session;
}

/** Publishes results, one after the other, and waits until the session has them. */
async function results(
  session: string,
  ...said: readonly (readonly [task: string, verdict: 'completed' | 'approved' | 'needs_changes'])[]
): Promise<void> {
  for (const [task, verdict] of said) {
    if (verdict === 'completed') await publishWork(system.client, session, task);
    else await publishReview(system.client, session, task, verdict);
  }
  await allDealtWith(system.ports);
}

describe('run.status with the list of the plan', () => {
  it('run.status tells of each task what the plan says, what it waits for and what came of it', async () => {
    const session = await following();
    await results(session, ['2', 'completed']);
    const { run, lists } = await system.client.runs.status({ session, lists: ['plan'] });
    expect(run).toMatchObject({
      spec: 'parser',
      totals: { total: 6, completed: 1, inProgress: 0, pending: 5 },
      active_task_id: '2',
      next_task_id: '2',
    });
    expect(lists?.plan).toMatchObject([
      { id: '1', status: 'completed', depth: 0 },
      { id: '2', last_outcome: 'implementer_completed', next_action: 'dispatch_reviewer', dispatches: 1 },
      { id: '3', status: 'pending', blocked: true },
      { id: '4', optional: true },
      { id: '5', depends_on: ['2', '3', '99'], waits_for: ['2', '3'], unknown_dependencies: ['99'] },
      { id: '6', waits_for: ['2'] },
    ]);
    expect(lists?.plan.some((task) => 'prompt' in task)).toBe(false);
    expect(run?.problem_lines).toEqual((await freshState(system, session)).run?.document.firstProblems);
  });

  it('run.status reads a file again that has changed, and says when it cannot be read', async () => {
    const session = newSession('plan');
    const tasksPath = await folder.write('follow.md', TASKS_MD);
    await system.client.runs.init({ session, spec: 'parser', tasksPath });
    await folder.write('follow.md', TASKS_MD.replace('[ ] 2.2', '[!] 2.2'));
    const request = { session, lists: ['plan' as const], status: 'blocked' as const };
    const { lists } = await system.client.runs.status(request);
    expect(lists?.plan).toMatchObject([{ id: '2.2', blocked: true }]);
    await rm(tasksPath);
    expect((await system.client.runs.status({ session })).degraded).toMatch(/follow\.md: does not exist/);
  });
});

it('run.init without its file fails with progress_ledger_missing_tasks and the path', async () => {
  const tasksPath = join(folder.path, 'none.md');
  const refused = system.client.runs.init({ session: 'refused', spec: 'parser', tasksPath });
  await expect(refused).rejects.toMatchObject({
    code: 'progress_ledger_missing_tasks',
    message: expect.stringMatching(/none\.md: does not exist/),
    details: { path: tasksPath },
  });
});

describe('drift', () => {
  it('drift is named by status, the plan, prompts and the ledger until the plan is mended', async () => {
    const session = newSession('drift');
    const tasksPath = await folder.write('drift.md', KIRO);
    await system.client.runs.init({ session, spec: 'parser', tasksPath });
    await results(session, ['2', 'approved'], ['1', 'completed'], ['1', 'needs_changes']);
    const open = 'task 2 is approved, but it is not ticked in the plan: tick its line';
    const ticked = expect.stringMatching(/^task 1 is ticked, but its last review says needs_changes/);
    const drift = [{ message: ticked }, { message: open, kind: 'approved_but_open', task: '2' }];
    expect((await system.client.runs.status({ session })).run?.drift).toMatchObject(drift);
    const start = await system.client.compile({ session, kind: 'session-start' });
    expect(start.prompt).toMatch(
      /^Plan: 1 of 6 done, next 6 .*Drift: task 1 is ticked, .*; task 2 is approved/m,
    );
    const iteration = await system.client.compile({ session, kind: 'iteration' });
    expect(iteration.prompt).toContain(open);
    const include = ['messages' as const];
    const own = await system.client.compile({ session, taskId: '2', taskPrompt: 'go on', include });
    expect(partsOf(own).packet).toMatchObject({ plan: expect.stringContaining(open) });
    await folder.write('drift.md', KIRO.replace('[ ] 2.', '[x] 2.').replace('[x] 1.', '[ ] 1.'));
    expect((await system.client.runs.status({ session })).run).not.toHaveProperty('drift');
  });
});
