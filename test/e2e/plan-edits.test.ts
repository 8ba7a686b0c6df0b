import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { planSystemOfFile } from '../support/runs.js';
import { allDealtWith, implemented, newSession, reviewed, soon } from '../support/system.js';

/** Plans that change while their tasks have results. */

const { folder, system } = await planSystemOfFile();
const { client } = system;

const PLAN = `# Tasks

### 1. Priority
- [ ] Add Priority field
- [ ] Sort by priority

### 2. Search
- [ ] Index the words
`;

async function following(text: string) {
  const session = newSession('plan-edits');
  const write = (changed: string) => folder.write(`${session}.md`, changed);
  const follow = async () => client.runs.init({ session, tasksPath: await write(text) });
  await follow();
  return {
    session,
    edit: write,
    async result(role: 'implementer' | 'reviewer', task: string) {
      const body = role === 'reviewer' ? reviewed(task, 'approved') : implemented(task);
      await client.publishText(session, role, JSON.stringify(body));
      await allDealtWith(system.ports);
    },
    async shown(): Promise<string> {
      const { stdout } = await cli(['status', session, '--plan'], { env: { NATS_URL: system.url } });
      return stdout;
    },
    async prompt(taskId: string): Promise<string> {
      return (await client.compile({ session, taskId })).prompt;
    },
  };
}

describe('a plan whose tasks have no ids of their own', () => {
  it('a line above an approved one is open, and the approval stays with its words', async () => {
    const { session, edit, result, shown, prompt } = await following(PLAN);
    await result('implementer', '1#1');
    await result('reviewer', '1#1');
    await client.tools.taskNext({ session, id: '1#2', claim: 'ada' });
    await edit(PLAN.replace('- [ ] Add', '- [ ] Write the migration first\n- [ ] Add'));
    const [fresh, done, claimed] = [await prompt('1#3'), await prompt('1#1'), await prompt('1#2')];
    expect(fresh).toContain('Task prompt:\nWrite the migration first');
    expect(fresh).not.toContain('This task is done');
    expect(done).toContain('Task prompt:\nAdd Priority field');
    expect(done).toContain('This task is done: approved by the reviewer');
    expect(claimed).toContain('Task prompt:\nSort by priority');
    const text = await shown();
    expect(text).toMatch(/1#3 +Write the migration first(?: \(next\))?\n/);
    expect(text).toMatch(/1#1 +Add Priority field {2}reviewer approved/);
    expect((await client.runs.status({ session, task: '1#2' })).task?.plan?.claimed_by).toBe('ada');
  });

  it('an approval of words that are gone counts for nothing, and the plan names it, also after it was not followed', async () => {
    const { session, edit, result, shown, prompt } = await following(PLAN);
    await result('reviewer', '1#1');
    const path = await edit(PLAN.replace('Add Priority field', 'Write the docs'));
    const named = '1#1 was: Add Priority field (reviewer approved): no task has these words now';
    for (const isAgain of [false, true]) {
      if (isAgain) {
        await client.runs.init({ session, unfollow: true });
        await client.runs.init({ session, tasksPath: path });
      }
      expect(await prompt('1#3')).not.toContain('This task is done');
      expect(await shown()).toContain(`drift: ${named}`);
      const { run, lists } = await client.runs.status({ session, lists: ['plan'] });
      expect(run?.drift).toEqual([
        { task: '1#1', kind: 'words_gone', message: expect.stringContaining(named) },
      ]);
      expect(lists?.plan[1]).toMatchObject({ id: '1#3', text: 'Write the docs', status: 'pending' });
      expect(lists?.plan[1]).not.toHaveProperty('last_outcome');
    }
  });
});

describe('a plan whose author wrote the ids', () => {
  it('a line with other words has another id, under which results for the written one count', async () => {
    const { session, edit, result, shown, prompt } = await following(
      '- [ ] T001 Write the parser\n- [ ] T002 Test it\n',
    );
    await result('reviewer', 'T001');
    await edit('- [ ] T001 Deploy to the cloud\n- [ ] T002 Test it\n');
    const text = await prompt('T001');
    expect(text).toContain("Deploy to the cloud\n\nIn the plan's file it is task T001.");
    expect(text).not.toContain('This task is done');
    expect(await shown()).toContain('T001 in the file is now T001~2');
    await edit('- [ ] T001 Deploy to the cloud\n- [ ] T002 Test it\n- [ ] T003 Write the parser\n');
    expect(await shown()).toContain('these words are task T003 now, and its results do not count there');
    await result('implementer', 'T001');
    const { task } = await client.runs.status({ session, task: 'T001' });
    expect(task?.plan).toMatchObject({
      id: 'T001~2',
      written: 'T001',
      dispatches: 1,
      last_outcome: 'implementer_completed',
    });
  });
});

describe('a plan that cannot be read', () => {
  it('each prompt says so in one line, and the same prompt can be had again', async () => {
    const { session, prompt } = await following(PLAN);
    const before = await prompt('1#1');
    await rm(join(folder.path, `${session}.md`));
    const line = /Plan: 0 of 3 done[^\n]*\. The plan cannot be read now, and may have changed: [^\n]*\.md: /;
    const { prompt: now, sequence } = await client.compile({ session, taskId: '1#1' });
    expect([before, now].map((text) => line.test(text))).toEqual([false, true]);
    expect((await client.compile({ kind: 'iteration', session })).prompt).toMatch(line);
    expect((await client.compile({ kind: 'session-start', session })).prompt).toMatch(line);
    const { request } = await soon(async () => {
      const { prompts } = await client.tools.promptList({ session, task: '1#1' });
      expect(prompts).toHaveLength(2);
      return client.tools.promptShow({ session, id: prompts[0]?.id ?? '' });
    });
    await folder.write(`${session}.md`, PLAN);
    const again = await client.compile({ ...request, session, taskId: '1#1' });
    expect([again.prompt, again.sequence]).toEqual([now, sequence]);
  });
});
