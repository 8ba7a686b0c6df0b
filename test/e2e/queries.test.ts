import { describe, expect, it } from 'vitest';
import { showReply } from '../../src/cli/show-reply.js';
import { token } from '../../src/contracts/names.js';
import { REQUESTS, type RequestName, TOOL_NAMES } from '../../src/contracts/requests.js';
import { newSession, publishReview, publishWork, systemOfFile } from '../support/system.js';

const system = await systemOfFile();
const { tools } = system.client;

const PLAN = '# Tasks\n\n- [x] 1. Lexer\n- [ ] 2. Parser\n';

/** A session with a plan, work that a review sent back twice, a result that could not be read, a note and a trace. */
async function furnished(name: string): Promise<string> {
  const session = newSession(name);
  const { client } = system;
  await client.runs.init({ session, spec: 'query', tasksText: PLAN });
  await tools.taskAdd({ session, content: 'Write the docs' });
  for (let round = 1; round <= 2; round += 1) {
    await publishWork(client, session, '2', {
      summary: `round ${round}`,
      files_modified: ['src/parser.ts', 'src/lexer.ts'],
      intent_id: 'INT-1',
    });
    await publishReview(client, session, '2', 'needs_changes', { required_fixes: ['Return an empty list'] });
  }
  await client.publishText(session, 'implementer', 'no result at all', { wait: true }).catch(() => undefined);
  await client.traces.append({
    session,
    entries: [
      {
        intent_id: 'INT-1',
        action_type: 'TOOL_EXECUTION',
        payload: { tool_name: 'edit', target_files: ['src/parser.ts'] },
        result: { status: 'SUCCESS', output_summary: 'done' },
      },
    ],
  });
  return session;
}

const session = await furnished('queries');

describe('reading tools', () => {
  it('a retracted failing test, and a corrected summary of two rounds, are in no later prompt of their task', async () => {
    const session = newSession('rounds');
    const { client } = system;
    await publishWork(
      client,
      session,
      '1',
      { summary: 'Split the topic into 12 partitions' },
      { wait: true },
    );
    const fixes = { required_fixes: ['Keep the order'] };
    await publishReview(client, session, '1', 'needs_changes', fixes, { wait: true });
    const tests = [{ command: 'npm test', passed: false, failures: ['expected 12, got 11'] }];
    await publishWork(client, session, '1', { summary: 'Keys keep the order', tests }, { wait: true });
    const prompt = async () =>
      (await client.compile({ session, taskId: '1', taskPrompt: 'Split the topic' })).prompt;
    expect(await prompt()).toMatch(
      /12 partitions[\s\S]*expected 12, got 11|expected 12, got 11[\s\S]*12 partitions/,
    );
    const idOf = async (text: string) => (await tools.factFind({ session, text })).facts[0]?.id ?? 'none';
    await tools.factRetract({ session, id: await idOf('expected 12 got 11') });
    await tools.factCorrect({
      session,
      id: await idOf('Keys keep the order'),
      text: 'There are 24 partitions',
    });
    const now = await prompt();
    expect(now).toContain('24 partitions');
    expect(now).not.toMatch(/12 partitions|Keys keep|got 11/);
  });

  it('a correction that is corrected back, its subject repeated, leaves the first text, and of twenty at once one holds', async () => {
    const session = newSession('corrected');
    const facts = [{ subject: 'shop', relation: 'uses', object: 'mysql', tags: ['decision' as const] }];
    await publishWork(system.client, session, '1', { facts }, { wait: true });
    const uses = async (is: 'open' | 'all' = 'open') =>
      (await tools.factFind({ session, is })).facts.filter(({ relation }) => relation === 'uses');
    for (const text of ['postgres', 'mysql']) {
      const [holds] = await uses();
      const { fact } = await tools.factCorrect({ session, id: holds?.id ?? '', text: `Shop uses ${text}` });
      expect((await uses()).map(({ object }) => object)).toEqual([text]);
      expect(fact.object).toBe(text);
    }
    const [mysql] = await uses();
    const same = await tools.factCorrect({ session, id: mysql?.id ?? '', text: 'mysql' });
    expect(same.fact, 'the text that stands').toEqual(mysql);
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        tools.factCorrect({ session, id: mysql?.id ?? '', text: `engine ${at}` }),
      ),
    );
    const done = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value.fact.object] : []));
    expect((await uses()).map(({ object }) => object)).toEqual(done);
    expect(done).toHaveLength(1);
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    for (const reason of refused) expect(reason).toMatchObject({ code: 'conflict' });
  });

  it('no reading tool appends anything, and the reply of each can be shown as text', async () => {
    const before = await system.ports.log.newest(token(session, 'session'));
    const more: Readonly<Record<string, object>> = {
      'fact-show': { id: '0000' },
      'dispatch-show': { dispatch: 1, timeoutMs: 0 },
    };
    const shown: string[] = [];
    for (const name of TOOL_NAMES.filter((each) => REQUESTS[`tool.${each}`].reads)) {
      const input = REQUESTS[`tool.${name}`].scope === 'no session' ? {} : { session, ...more[name] };
      const reply = await system.client.send(`tool.${name}`, input).catch(() => undefined);
      if (reply === undefined) continue;
      expect(showReply<RequestName>(`tool.${name}`, reply).join('\n')).toMatch(/\S/);
      shown.push(name);
    }
    expect(shown).toEqual(expect.arrayContaining(['session-list', 'telemetry-show', 'rejected-list']));
    expect(await system.ports.log.newest(token(session, 'session'))).toBe(before);
  });
});
