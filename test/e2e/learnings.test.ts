import { describe, expect, it } from 'vitest';
import type { CompileReply } from '../../src/contracts/replies/compile-reply.js';
import type { Proposal } from '../../src/memory/learnings/learnings-state.js';
import { newSession, publishReview, soon, startSystem, systemOfFile } from '../support/system.js';

// Learnings from end to end: notes and reviews in, proposals, decisions, prompts out.
const system = await systemOfFile();

let projects = 0;
async function newProject(): Promise<{ project: string; session: string }> {
  projects += 1;
  const project = `project-${projects}`;
  return { project, session: await sessionOf(project) };
}

async function sessionOf(project: string): Promise<string> {
  const session = newSession('learning');
  await system.client.tools.sessionOpen({ session, project, goal: 'A parser' });
  return session;
}

/** Proposes and gives the id. */
async function proposed(project: string, content: string): Promise<string> {
  const reply = await system.client.send('learning.propose', { project, content, type: 'pattern' });
  return (reply as { proposal: Proposal }).proposal.id;
}

async function accepted(project: string, content: string): Promise<string> {
  const id = await proposed(project, content);
  await system.client.send('proposal.accept', { project, id, by: 'ann' });
  return id;
}

/** The prompts of all kinds, about these words. */
async function prompts(session: string, taskPrompt: string): Promise<CompileReply[]> {
  const { client } = system;
  const asked = { session, taskPrompt, maxLearnings: 100, include: ['learnings' as const] };
  return Promise.all([
    client.compile({ kind: 'session-start', ...asked }),
    client.compile({ kind: 'iteration', ...asked }),
    client.compile({ taskId: '9', ...asked }),
  ]);
}

describe('proposals', () => {
  it('proposals are made from reviews that came while the service of learnings did not run', async () => {
    await using first = await startSystem({ only: ['extractor', 'tools'] });
    for (const task of ['1', '2']) {
      await publishReview(first.client, 'away', task, 'needs_changes', { required_fixes: ['Add a test'] });
    }
    await using later = await startSystem({ nats: first.nats, only: ['learnings'] });
    const pending = async () => (await later.client.send('proposal.list', {})).proposals;
    await soon(async () => expect(await pending()).toMatchObject([{ content: 'Add a test' }]));
  });
});

describe('learnings in prompts', () => {
  it('a prompt holds the learnings in force, and no pending, rejected, merged, superseded or retracted one', async () => {
    const { project, session } = await newProject();
    await accepted(project, 'Kept whole');
    await proposed(project, 'Waits for a decision, and says more than an index of proposals has room for');
    const rejected = await proposed(project, 'Turned down');
    await system.client.send('proposal.reject', { project, id: rejected });
    const old = await accepted(project, 'Superseded of old');
    const replacement = await accepted(project, 'Took its place');
    await system.client.send('learning.supersede', { project, id: old, replacement });
    const retracted = await accepted(project, 'Retracted again');
    await system.client.send('learning.retract', { project, id: retracted, reason: 'wrong' });

    const about =
      'what was kept whole and took its place, was turned down, superseded of old, retracted, waits for a decision';
    for (const { prompt, learnings: shown, learningsTotal } of await prompts(session, about)) {
      expect(shown?.map(({ content }) => content).sort()).toEqual(['Kept whole', 'Took its place']);
      expect(learningsTotal).toBe(2);
      expect(prompt).toMatch(/ (learnings) \(2\/2\):\n/);
      expect(prompt).not.toMatch(/Turned down|Superseded of old|Retracted again|index of proposals/);
    }
    const [first, ...others] = await prompts(session, about);
    expect(first?.prompt).toContain('Pending proposals (1):\n');
    for (const { prompt } of others) expect(prompt).not.toContain('Waits for a decision');
  });
});
