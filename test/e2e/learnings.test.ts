import { describe, expect, it } from 'vitest';
import type { CompileReply } from '../../src/contracts/replies/compile-reply.js';
import type { Proposal } from '../../src/memory/learnings/learnings-state.js';
import { newSession, publishWire, reviewed, soon, startSystem, systemOfFile } from '../support/system.js';

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

async function proposals(project: string, status = 'pending'): Promise<Proposal[]> {
  const reply = (await system.client.request('proposal.list', { project, status })) as {
    proposals: Proposal[];
  };
  return reply.proposals;
}

/** Proposes and gives the id. */
async function proposed(project: string, content: string): Promise<string> {
  const reply = await system.client.request('learning.propose', { project, content, type: 'pattern' });
  return (reply as { proposal: Proposal }).proposal.id;
}

async function accepted(project: string, content: string): Promise<string> {
  const id = await proposed(project, content);
  await system.client.request('proposal.accept', { project, id, by: 'ann' });
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
  it('proposals come from notes that hold beyond the session, and name them', async () => {
    const { project, session } = await newProject();
    const add = (type: 'learning' | 'tip' | 'decision' | 'stuck', content: string) =>
      system.client.tools.noteAdd({ session, type, content });
    await add('tip', 'Run the linter first');
    await add('stuck', 'The build fails');
    await add('learning', 'Mocks hide faults');
    await add('decision', 'We use zod');
    await soon(async () => expect(await proposals(project)).toHaveLength(3));
    expect(
      (await proposals(project)).map(({ content, type, method, source }) => [content, type, method, source]),
    ).toEqual([
      ['We use zod', 'pattern', 'note', { session, note: 'NOT-4' }],
      ['Mocks hide faults', 'insight', 'note', { session, note: 'NOT-3' }],
      ['Run the linter first', 'pattern', 'note', { session, note: 'NOT-1' }],
    ]);
  });

  it('proposals come from what reviewers demand in more than one task, with the dispatches as evidence', async () => {
    const { project, session } = await newProject();
    const review = (task: string, fix: string, at = session) =>
      publishWire(system.client, 'reviewer', at, reviewed(task, 'needs_changes', { required_fixes: [fix] }));
    await review('1', 'Close the file in src/a.ts:12');
    await review('1', 'Close the file in src/a.ts:40');
    await review('1', 'Say why in the commit');
    const other = await sessionOf(project);
    const { sequence } = await review('7', 'close the file in lib/b.ts', other);
    await soon(async () => expect(await proposals(project)).toHaveLength(1));
    const [proposal] = await proposals(project);
    expect(proposal).toMatchObject({
      content: 'Close the file in src/a.ts:12',
      method: 'recurring_fix',
      confidence: 0.67,
    });
    expect(proposal?.evidence.map(({ session: at, task }) => [at, task])).toEqual([
      [session, '1'],
      [other, '7'],
    ]);
    expect(proposal?.evidence.at(-1)?.dispatch).toBe(sequence);
  });

  it('proposals are made from reviews that came while the service of learnings did not run', async () => {
    await using first = await startSystem({ only: ['extractor', 'tools'] });
    for (const task of ['1', '2']) {
      await publishWire(
        first.client,
        'reviewer',
        'away',
        reviewed(task, 'needs_changes', { required_fixes: ['Add a test'] }),
      );
    }
    await using later = await startSystem({ nats: first.nats, only: ['learnings'] });
    const pending = async () =>
      ((await later.client.request('proposal.list', {})) as { proposals: Proposal[] }).proposals;
    await soon(async () => expect(await pending()).toMatchObject([{ content: 'Add a test' }]));
  });
});

describe('learnings in prompts', () => {
  it('a prompt holds the learnings in force, and no pending, rejected, merged, superseded or retracted one', async () => {
    const { project, session } = await newProject();
    await accepted(project, 'Kept whole');
    await proposed(project, 'Waits for a decision, and says more than an index of proposals has room for');
    const rejected = await proposed(project, 'Turned down');
    await system.client.request('proposal.reject', { project, id: rejected });
    const old = await accepted(project, 'Superseded of old');
    const replacement = await accepted(project, 'Took its place');
    await system.client.request('learning.supersede', { project, id: old, replacement });
    const retracted = await accepted(project, 'Retracted again');
    await system.client.request('learning.retract', { project, id: retracted, reason: 'wrong' });

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
