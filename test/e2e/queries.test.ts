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
  it('a retracted fact is in no later prompt, a corrected one is there in its new words', async () => {
    const session = newSession('corrections');
    const { client } = system;
    await publishWork(client, session, '1', {
      facts: [
        { subject: 'metrics', relation: 'listen on', object: 'port 9090', tags: ['decision'] },
        { subject: 'sessions', relation: 'live in', object: 'postgres', tags: ['decision'] },
      ],
    });
    await publishReview(
      client,
      session,
      '1',
      'needs_changes',
      { required_fixes: ['Rename the metric'] },
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
