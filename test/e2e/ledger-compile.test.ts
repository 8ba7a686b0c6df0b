import { utimes } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { COMPILE_SUBJECT, type Token } from '../../src/contracts/names.js';
import { partsOf } from '../prompt/parts.js';
import { planSystemOfFile, TASKS_MD, TASKS_MD_LATER } from '../support/runs.js';
import {
  eventsOf,
  implemented,
  newestOf,
  newSession,
  publishWire,
  reviewed,
  startSystem,
} from '../support/system.js';

const { folder, system } = await planSystemOfFile();

const TASK = { taskId: '2.2', taskPrompt: 'Write the statements' };
/** The state of the task in the plan, as its prompt says it: pending is not said. */
const BEFORE = undefined;
const AFTER = 'completed';

/** A session that follows a file of its own. */
async function following(name: string): Promise<{ session: Token; file: string; path: string }> {
  const session = newSession(name);
  const file = `${session}.md`;
  const path = await folder.write(file, TASKS_MD);
  await system.client.initRun({ session, spec: 'parser', tasksPath: path });
  return { session, file, path };
}

function compile(session: Token, more: object = {}) {
  return system.client.compile({ session, ...TASK, include: ['messages'], ...more });
}

function stateIn(reply: Parameters<typeof partsOf>[0]): unknown {
  return partsOf(reply).packet.plan;
}

async function typesOf(session: Token): Promise<string[]> {
  return (await eventsOf(system, session)).map(({ event }) => event.type);
}

describe('a prompt of a run', () => {
  it('a prompt of a run shows the task and the progress', async () => {
    const { session } = await following('run');
    const reply = await compile(session, { taskId: '2.1' });
    const sequence = await newestOf(system, session);
    expect(reply).toMatchObject({ ledger: { mode: 'ledger' }, sequence });
    expect(partsOf(reply).packet).toEqual({ plan: 'completed' });
    expect(partsOf(reply).taskPrompt).toContain('Requirements:\n- 1.2\n- 3');
  });

  it('a prompt of a run says that the file does not hold the task, and goes on with the rest', async () => {
    const { session } = await following('run');
    const reply = await compile(session, { taskId: '9.9' });
    expect(reply.ledger).toEqual({
      mode: 'ledger_plus_fallback',
      reason: 'progress_ledger_incomplete',
      message: expect.stringMatching(/^the plan has no task "9.9"; /),
    });
    expect(partsOf(reply).packet).toEqual({});
  });
});

describe('a session without a run', () => {
  it('a session without a run has no ledger before its first dispatch, and one after it', async () => {
    const session = newSession('plain');
    expect(await compile(session)).toMatchObject({ ledger: { mode: 'none' }, sequence: 0 });
    const { sequence } = await publishWire(system.client, 'implementer', session, implemented('2.2'));
    const reply = await compile(session, { after: sequence });
    expect(reply.ledger).toEqual({ mode: 'ledger' });
    expect(partsOf(reply).packet).toEqual({
      summary: 'did 2.2',
    });
    expect((await compile(session, { taskId: '1' })).ledger).toEqual({ mode: 'none' });
  });
});

describe('a file that changes between two prompts', () => {
  it('a file that changes between two prompts is read again, and becomes one event', async () => {
    const { session, file } = await following('changed');
    expect(stateIn(await compile(session))).toEqual(BEFORE);
    await folder.write(file, TASKS_MD_LATER);
    const reply = await compile(session);
    const sequence = await newestOf(system, session);
    expect(reply).toMatchObject({ ledger: { mode: 'ledger' }, sequence });
    expect(stateIn(reply)).toEqual(AFTER);
    expect(await compile(session)).toEqual({ ...reply, replayed: 0 });
    expect(await typesOf(session)).toEqual(['run.initialized', 'progress.rebuilt']);
  });

  it('a changed file becomes one event even when twenty prompts and another process find it at once', async () => {
    const { session, file } = await following('crowd');
    await using other = await startSystem({
      nats: system.nats,
      env: { THROUGHLINE_TASKS_ROOTS: folder.path },
    });
    expect(other.url).toBe(system.url);
    for (const [round, text] of [TASKS_MD_LATER, TASKS_MD, TASKS_MD_LATER].entries()) {
      await folder.write(file, text);
      const replies = await Promise.all(Array.from({ length: 20 }, () => compile(session)));
      for (const reply of replies) expect(stateIn(reply)).toEqual(round === 1 ? BEFORE : AFTER);
      expect(new Set(replies.map(({ prompt }) => prompt)).size).toBe(1);
      expect(await typesOf(session)).toHaveLength(round + 2);
    }
  });

  it('a changed file is read for an iteration prompt too', async () => {
    const { session, file } = await following('iteration');
    await folder.write(file, TASKS_MD_LATER);
    const { sequence } = await system.client.compile({ session, kind: 'iteration' });
    expect(sequence).toBe(await newestOf(system, session));
    expect(await typesOf(session)).toEqual(['run.initialized', 'progress.rebuilt']);
  });

  it('a file whose time changes but not its text appends nothing', async () => {
    const { session, path } = await following('touched');
    const before = await compile(session);
    await utimes(path, new Date(), new Date());
    expect(await compile(session)).toEqual({ ...before, replayed: 0 });
    expect(await typesOf(session)).toEqual(['run.initialized']);
  });

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

  it('a run.init that names another file makes prompts follow that one', async () => {
    const { session, file } = await following('moved');
    const tasksPath = await folder.write(`${session}-2.md`, '- [ ] 2.2 Statements');
    await system.client.initRun({ session, spec: 'other', tasksPath });
    await folder.write(file, TASKS_MD_LATER);
    expect(stateIn(await compile(session))).toBe(BEFORE);
    await folder.write(`${session}-2.md`, '- [x] 2.2 Statements');
    expect(stateIn(await compile(session))).toBe(AFTER);
  });
});

describe('a file that cannot be read any more', () => {
  it('a file that became unreadable leaves the progress that was read before, and the reply says so', async () => {
    const { session, file } = await following('unreadable');
    const before = await compile(session);
    await folder.write(file, '# Nothing to do here\n');
    const prose = await compile(session);
    expect(prose.ledger).toEqual({
      mode: 'ledger_plus_fallback',
      reason: 'rebuild_failed',
      message: expect.stringMatching(new RegExp(`${file} holds no task that can be read \\(line \\d+: `)),
    });
    expect(prose.prompt).toBe(before.prompt);
    await folder.drop(file);
    const gone = await compile(session);
    expect(gone.ledger).toMatchObject({
      reason: 'rebuild_failed',
      message: expect.stringMatching(/does not exist/),
    });
    expect(gone.prompt).toBe(before.prompt);
    await folder.write(file, TASKS_MD_LATER);
    const back = await compile(session);
    expect(back.ledger).toEqual({ mode: 'ledger' });
    expect(stateIn(back)).toEqual(AFTER);
    expect(await typesOf(session)).toEqual(['run.initialized', 'progress.rebuilt']);
  });
});

describe('a stalled task', () => {
  it('a stalled task is to be planned again from its second round on, until it is approved', async () => {
    const session = newSession('circles');
    const round = async (fix: string) => {
      await publishWire(system.client, 'implementer', session, implemented('2.2'));
      const review = reviewed('2.2', 'needs_changes', { required_fixes: [fix] });
      const { sequence } = await publishWire(system.client, 'reviewer', session, review);
      return partsOf(await compile(session, { after: sequence }));
    };
    expect((await round('check the bounds')).replan).toEqual([]);
    expect((await round('close the file')).replan).toEqual([]);
    const second = await round('close the file');
    expect(second.replan).toEqual([
      expect.stringMatching(/^Replan: /),
      expect.stringMatching(/^- ping_pong \(\d times\), completed, then sent back .*: close the file$/),
      expect.stringMatching(/^- same_fixes \(2 times\)/),
      'Tried already, the newest last:',
      '- completed: did 2.2. Refused by the review: check the bounds',
      '- completed: did 2.2. Refused by the review: close the file',
      '- completed: did 2.2. Refused by the review: close the file',
    ]);
    expect(second.packet).toMatchObject({ required_fixes: ['close the file'] });
    const { sequence } = await publishWire(system.client, 'reviewer', session, reviewed('2.2', 'approved'));
    const approved = partsOf(await compile(session, { after: sequence }));
    expect(approved.replan).toEqual([]);
    expect(approved.packet).not.toHaveProperty('required_fixes');
  });
});

describe('two prompts at one sequence', () => {
  it('two prompts at one sequence have the same bytes, and those of two tasks share one prefix', async () => {
    const { session } = await following('bytes');
    const one = await compile(session);
    const again = await compile(session, { asOf: one.sequence });
    const other = await compile(session, { taskId: '1' });
    expect(JSON.stringify(again.messages)).toBe(JSON.stringify(one.messages));
    expect(again).toMatchObject({ fullPromptHash: one.fullPromptHash, prompt: one.prompt });
    expect(other.stablePrefixHash).toBe(one.stablePrefixHash);
    expect(other.messages[0]).toEqual(one.messages[0]);
    expect(other.messages[1]).not.toEqual(one.messages[1]);
    expect(other.fullPromptHash).not.toBe(one.fullPromptHash);
  });
});

interface Overflow {
  readonly error: { readonly details: Readonly<Record<'tokens' | 'room' | 'over', number>> };
}

describe('a prompt that does not fit', () => {
  it('a prompt that does not fit fails with prompt_overflow, with how much it needs and how much there is', async () => {
    const request = { session: newSession('overflow'), ...TASK, taskPrompt: 'x'.repeat(40_000) };
    const body = JSON.stringify(request);
    const reply = await system.ports.connection.request(COMPILE_SUBJECT, body, { timeout: 5000 });
    expect(reply.headers?.get('Nats-Service-Error-Code')).toBe('413');
    expect(reply.json()).toEqual({
      error: {
        code: 'prompt_overflow',
        message: expect.stringMatching(
          /^the implementer prompt needs \d+ tokens for what must not be left out, \d+ more than the 3600 that it has\. Raise budget\.inputTokens \(--room\) to at least \d+, /,
        ),
        details: { tokens: expect.any(Number), room: 3600, over: expect.any(Number) },
      },
    });
    const { tokens, room, over } = reply.json<Overflow>().error.details;
    expect(tokens - room).toBe(over);
    const raised = await system.client.compile({ ...request, budget: { inputTokens: tokens } });
    expect(raised.budget).toMatchObject({ room: tokens, used: tokens });
    const short = system.client.compile({ ...request, budget: { inputTokens: tokens - 1 } });
    await expect(short).rejects.toMatchObject({ code: 'prompt_overflow', details: { over: 1 } });
  });

  it('a prompt is measured by the tokenizer and the limits that the session has recorded', async () => {
    const settings = { tokenizer: 'o200k_base', reviewerTokens: 700, maxOutputTokens: 100 } as const;
    await system.client.tools.sessionOpen({ session: 'exact', settings });
    const taskPrompt = `Judge it.\n\n${'Read one more line of it.\n'.repeat(200)}`;
    const request = { session: 'exact', taskId: '1', role: 'reviewer', taskPrompt } as const;
    const { budget, prompt } = await system.client.compile(request);
    expect(budget).toMatchObject({ room: 600, tokenizer: 'o200k_base' });
    expect(budget.wanted).toBeGreaterThan(600);
    expect(prompt).toMatch(/\(\d+ further lines of the task left out for space\)/);
  });
});
