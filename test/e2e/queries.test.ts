import { beforeAll, describe, expect, it } from 'vitest';
import { showReply } from '../../src/cli/show-reply.js';
import { token } from '../../src/contracts/names.js';
import type { ToolReply } from '../../src/contracts/replies/replies.js';
import { isWideTool, READING_TOOLS } from '../../src/contracts/request-names.js';
import { implemented, newSession, publishWire, reviewed, systemOfFile } from '../support/system.js';

const system = await systemOfFile();
const { tools } = system.client;

const PLAN = '# Tasks\n\n- [x] 1. Lexer\n- [ ] 2. Parser\n';

/** A session with a plan, work that a review sent back twice, a result that could not be read, a note and a trace. */
async function furnished(name: string): Promise<string> {
  const session = newSession(name);
  const { client } = system;
  await client.initRun({ session, spec: 'query', tasksText: PLAN });
  await tools.taskAdd({ session, content: 'Write the docs' });
  for (let round = 1; round <= 2; round += 1) {
    await publishWire(
      client,
      'implementer',
      session,
      implemented('2', {
        summary: `round ${round}`,
        files_modified: ['src/parser.ts', 'src/lexer.ts'],
        intent_id: 'INT-1',
      }),
    );
    await publishWire(
      client,
      'reviewer',
      session,
      reviewed('2', 'needs_changes', { required_fixes: ['Return an empty list'] }),
    );
  }
  await client.publishText(session, 'implementer', 'no result at all', { wait: true }).catch(() => undefined);
  await client.appendTrace(session, [
    {
      intent_id: 'INT-1',
      action_type: 'TOOL_EXECUTION',
      payload: { tool_name: 'edit', target_files: ['src/parser.ts'] },
      result: { status: 'SUCCESS', output_summary: 'done' },
    },
  ]);
  return session;
}

let session: string;
beforeAll(async () => {
  session = await furnished('queries');
});

describe('reading tools', () => {
  it('fact-find filters and pages, and fact-show tells the history of a fact', async () => {
    const found: ToolReply<'fact-find'>['facts'][number][] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await tools.factFind({ session, is: 'all', limit: 3, ...(cursor && { cursor }) });
      found.push(...page.facts);
      expect(page.total).toBeGreaterThan(3);
      if (page.next === undefined) break;
      cursor = page.next;
    }
    const whole = await tools.factFind({ session, is: 'all', limit: 200 });
    expect(found).toEqual(whole.facts);
    const closed = await tools.factFind({ session, is: 'closed', relation: 'must_fix' });
    const [fact] = closed.facts;
    expect(fact).toMatchObject({ object: 'Return an empty list', closed_by: expect.any(Number) });
    const shown = await tools.factShow({ session, id: fact?.id ?? '' });
    expect(shown.fact.id).toBe(fact?.id);
    expect(shown.history.length).toBeGreaterThan(0);
    await expect(tools.factShow({ session, id: '0000' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('a retracted fact is in no later prompt, a corrected one is there in its new words', async () => {
    const session = newSession('corrections');
    const { client } = system;
    await publishWire(
      client,
      'implementer',
      session,
      implemented('1', {
        facts: [
          { subject: 'metrics', relation: 'listen on', object: 'port 9090', tags: ['decision'] },
          { subject: 'sessions', relation: 'live in', object: 'postgres', tags: ['decision'] },
        ],
      }),
    );
    await publishWire(
      client,
      'reviewer',
      session,
      reviewed('1', 'needs_changes', { required_fixes: ['Rename the metric'] }),
      { wait: true },
    );
    const idOf = async (text: string) =>
      (await tools.factFind({ session, text, is: 'all' })).facts[0]?.id ?? 'none';
    const promptOf = async (taskId: string) => {
      const asked = { session, taskId, role: 'implementer', taskPrompt: 'Serve the metrics' } as const;
      return (await client.compile({ kind: 'dispatch', ...asked })).prompt;
    };
    expect(await promptOf('2')).toContain('port 9090');
    const port = await idOf('port 9090');
    const corrected = await tools.factCorrect({ session, id: port, text: 'port 9464', by: 'anna' });
    expect(corrected).toMatchObject({
      fact: { object: 'port 9464', corrects: port },
      corrected: { id: port, retracted: { by: 'anna', instead: corrected.fact.id } },
    });
    const retracted = { session, id: await idOf('postgres'), reason: 'Never agreed' };
    expect(await tools.factRetract(retracted)).toMatchObject({
      fact: { object: 'postgres', retracted: { by: 'a person', reason: 'Never agreed' } },
    });
    const prompt = await promptOf('2');
    expect(prompt).toContain('port 9464');
    expect(prompt).not.toContain('port 9090');
    expect(prompt).not.toContain('postgres');
    // The task's own ledger forgets it as well.
    expect(await promptOf('1')).toContain('Rename the metric');
    await tools.factRetract({ session, id: await idOf('Rename the metric') });
    expect(await promptOf('1')).not.toContain('Rename the metric');
    // Again: nothing more is stored.
    const { sequence } = await tools.factRetract(retracted);
    expect((await tools.factRetract(retracted)).sequence).toBe(sequence);
    await expect(tools.factCorrect({ ...retracted, text: 'redis' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(tools.factRetract({ session, id: '0000' })).rejects.toMatchObject({ code: 'not_found' });
    const { entries } = await tools.timelineList({ session, kinds: ['command'] });
    expect(entries.map(({ summary }) => summary)).toContain('retracted by a person (Never agreed): postgres');
  });

  it('file-list shows which files change together', async () => {
    expect(await tools.fileList({ session })).toMatchObject({
      files: [
        { path: 'src/lexer.ts', uses: 2, tasks: ['2'], last: expect.any(String) },
        { path: 'src/parser.ts', uses: 2, tasks: ['2'] },
      ],
      links: [{ from: 0, to: 1, together: 2 }],
      total: 2,
    });
  });

  it('ledger-list and ledger-show tell what came of a task', async () => {
    expect((await tools.ledgerList({ session })).tasks).toMatchObject([
      {
        task: '2',
        plan: 'pending',
        rounds: 2,
        findings: 1,
        stalled: true,
        last_outcome: 'reviewer_needs_changes',
      },
    ]);
    const { entries } = await tools.ledgerShow({ session, task: '2' });
    expect(entries).toMatchObject({ 'ledger.task.required_fixes': ['Return an empty list'] });
    expect((await tools.ledgerShow({ session, task: '3' })).remark).toContain(
      'nothing is known about task 3',
    );
  });

  it('no reading tool appends anything, and the reply of each can be shown as text', async () => {
    const before = await system.ports.log.newest(token(session, 'session'));
    const more: Readonly<Record<string, object>> = {
      'fact-show': { id: '0000' },
      'ledger-show': { task: '2' },
      'trace-show': { intent: 'INT-1' },
      'dispatch-show': { dispatch: 1, timeoutMs: 0 },
    };
    const shown: string[] = [];
    for (const name of READING_TOOLS) {
      const input = isWideTool(name) ? {} : { session, ...more[name] };
      const reply = await system.client.requestTool(name, input).catch(() => undefined);
      if (reply === undefined) continue;
      expect(showReply(name, reply).join('\n')).toMatch(/\S/);
      shown.push(name);
    }
    expect(shown).toEqual(expect.arrayContaining(['session-list', 'telemetry-show', 'rejected-list']));
    expect(await system.ports.log.newest(token(session, 'session'))).toBe(before);
  });
});
