import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { planSystemOfFile } from '../support/runs.js';
import { LEXER_PLAN, LEXER_REQUIREMENTS } from '../support/stories.js';
import { newSession } from '../support/system.js';

/** The story of a plan whose tasks have bodies, as the agents read it in their prompts. */

const { folder, system } = await planSystemOfFile();

async function following(...more: readonly string[]): Promise<string> {
  const session = newSession('story-plan');
  const spec = join(folder.path, session);
  await mkdir(spec);
  await writeFile(join(spec, 'requirements.md'), LEXER_REQUIREMENTS);
  await writeFile(join(spec, 'design.md'), '# Design\n');
  await writeFile(join(spec, 'tasks.md'), LEXER_PLAN);
  const args = ['plan', 'follow', join(spec, 'tasks.md'), '-s', session, ...more];
  expect(await cli(args, { env: { NATS_URL: system.url } })).toMatchObject({ code: 0 });
  return session;
}

describe('a plan with bodies', () => {
  it('a prompt that is asked to do a task of the board has its text, dependencies and notes', async () => {
    const session = newSession('story-board');
    const { tools } = system.client;
    await tools.taskAdd({ session, content: 'Write the lexer' });
    await tools.taskAdd({ session, content: 'Write the printer' });
    await tools.taskDepends({ session, id: 'TAS-2', dependsOn: ['TAS-1'] });
    await tools.noteAdd({ session, type: 'tip', content: 'TAS-2 must keep comments' });
    const { prompt } = await system.client.compile({ session, taskId: '7', taskPrompt: 'Do TAS-2' });
    const task = prompt.slice(prompt.indexOf('Task prompt:\n'));
    expect(task).toBe(
      'Task prompt:\nDo TAS-2\n\nBoard task TAS-2 (pending): Write the printer\n' +
        'Depends on TAS-1 (pending): Write the lexer',
    );
    expect(prompt).toContain('- noted: TAS-2 must keep comments [N1, ');
    await expect(system.client.compile({ session, taskId: '7' })).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining('neither in the plan nor on the board'),
    });
  });

  it('an iteration prompt lists the tasks of the plan, and says how to finish one there', async () => {
    const session = await following();
    const { prompt } = await system.client.compile({ kind: 'iteration', session });
    expect(prompt).toContain('REMAINING:\n  - [2] Write the lexer');
    expect(prompt).toContain('  - [3] Ask for the licence (reason: waits for the legal team)');
    expect(prompt).toContain('> Conventions: never use regular expressions in the lexer.');
    expect(prompt).toContain('**Tick its line in the plan**');
    expect(prompt).not.toMatch(/No spec given|missing spec tasks|No tasks yet|tool task-|\bBoard\b/);
  });
});
