import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { planSystemOfFile, TASKS_MD, TASKS_MD_LATER } from '../support/runs.js';
import { eventsOf, newSession } from '../support/system.js';

const { folder, system } = await planSystemOfFile();

const TASK = { taskId: '2.2', taskPrompt: 'Write the statements' };
async function following(name: string): Promise<{ session: Token; file: string; path: string }> {
  const session = newSession(name);
  const file = `${session}.md`;
  const path = await folder.write(file, TASKS_MD);
  await system.client.runs.init({ session, spec: 'parser', tasksPath: path });
  return { session, file, path };
}

function compile(session: Token, more: object = {}) {
  return system.client.compile({ session, ...TASK, include: ['messages'], ...more });
}

async function typesOf(session: Token): Promise<string[]> {
  return (await eventsOf(system, session)).map(({ event }) => event.type);
}

describe('a prompt of a run', () => {
  it('a prompt of a run falls back to what is known, and says why: the plan has no such task, or cannot be read', async () => {
    const { session, file } = await following('back');
    const fallback = (reason: string) => ({ mode: 'ledger_plus_fallback', reason });
    const ledger = async (taskId: string) => (await compile(session, { taskId })).ledger;
    expect(await ledger('2.9')).toMatchObject(fallback('progress_ledger_incomplete'));
    await folder.write(file, 'prose');
    expect(await ledger('2.2')).toMatchObject(fallback('rebuild_failed'));
  });
});

describe('a file that changes between two prompts', () => {
  it('a changed file does not change the prompt of the past', async () => {
    const { session, file } = await following('then');
    const { prompt, sequence: asOf } = await compile(session);
    await folder.write(file, TASKS_MD_LATER);
    expect((await compile(session, { asOf })).prompt).toBe(prompt);
    expect(await typesOf(session)).toEqual(['run.initialized']);
    await compile(session);
    await folder.write(file, 'prose');
    const then = await compile(session, { asOf });
    expect(then).toMatchObject({ prompt, ledger: { mode: 'ledger' }, sequence: asOf });
  });
});

describe('a prompt that does not fit', () => {
  it('a prompt is measured by the budget of its request', async () => {
    await system.client.tools.sessionOpen({ session: 'exact', goal: 'A parser' });
    const taskPrompt = `Judge it.\n\n${'Read one more line of it.\n'.repeat(200)}`;
    const request = {
      session: 'exact',
      taskId: '1',
      role: 'reviewer',
      taskPrompt,
      budget: { inputTokens: 600 },
    } as const;
    const { budget, prompt } = await system.client.compile(request);
    expect(budget).toMatchObject({ room: 600, tokenizer: 'approximate' });
    expect(budget.wanted).toBeGreaterThan(600);
    expect(prompt).toMatch(/\(\d+ further lines of the task left out for space\)/);
  });
});
