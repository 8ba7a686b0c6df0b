import { expect, it } from 'vitest';
import type { Proposal } from '../../src/memory/learnings/learnings-state.js';
import { soon } from '../support/soon.js';
import { DEMAND, HAND_IN } from '../support/stories.js';
import { implemented, newSession, publishWire, reviewed, systemOfFile } from '../support/system.js';

/** The story of a project: reviewers demand the same in two tasks, a person accepts it, and the next session knows it. */

const system = await systemOfFile();
const PROJECT = 'shop';

async function opened(): Promise<string> {
  const session = newSession('story-learnings');
  await system.client.tools.sessionOpen({ session, project: PROJECT });
  return session;
}

it('what two reviews demand is a proposal, and once accepted in the prompt of the next session', async () => {
  const first = await opened();
  for (const task of ['1', '2']) {
    await publishWire(system.client, 'implementer', first, implemented(task));
    const review = reviewed(task, 'needs_changes', { required_fixes: [DEMAND] });
    await publishWire(system.client, 'reviewer', first, review);
  }
  const pending = async () =>
    (await system.client.request('proposal.list', { project: PROJECT, status: 'pending' })) as {
      readonly proposals: Proposal[];
    };
  await soon(async () => expect((await pending()).proposals).toHaveLength(1));
  const [proposal] = (await pending()).proposals;
  expect(proposal).toMatchObject({ content: DEMAND });

  const second = await opened();
  const asked = { session: second, taskId: '9', taskPrompt: HAND_IN };
  expect((await system.client.compile(asked)).prompt).not.toContain(DEMAND);
  await system.client.request('proposal.accept', { project: PROJECT, id: proposal?.id, by: 'ann' });
  await soon(async () => {
    const { prompt } = await system.client.compile(asked);
    expect(prompt).toMatch(new RegExp(`learnings \\(1/1\\):\\n.*${DEMAND}`));
  });
});
