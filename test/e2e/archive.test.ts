import { describe, expect, it } from 'vitest';
import { dispatchSubject, type Token } from '../../src/contracts/names.js';
import { cli } from '../support/cli.js';
import { eventsOf, implemented, newSession, soon, systemOfFile } from '../support/system.js';

/** Archived sessions, on real NATS. */

const system = await systemOfFile();

const run = (...args: string[]) => cli(args, { env: { NATS_URL: system.url } });

async function publish(session: Token, task: string): Promise<number> {
  const body = Buffer.from(JSON.stringify(implemented(task, { files_modified: [`src/${task}.ts`] })));
  return (await system.ports.source.publish(dispatchSubject(session, 'implementer'), body)).sequence;
}

const compile = (session: Token, after?: number) =>
  system.client.compile({ session, taskId: '9', taskPrompt: 'next', ...(after !== undefined && { after }) });

async function withResults(name: string): Promise<Token> {
  const session = newSession(name);
  for (const task of ['1', '2', '3']) await compile(session, await publish(session, task));
  return session;
}

describe('an archived session', () => {
  it('new results of an archived session are rejected with the reason and the fix, and count once it is reopened', async () => {
    const session = await withResults('closed');
    const archived = await run('session', 'archive', session, '--reason', 'Done');
    expect(archived).toMatchObject({ code: 0, stderr: expect.stringContaining('earlier prompts') });
    const start = await system.client.compile({ session, kind: 'session-start' });
    expect(start.prompt).toContain('Archived: the session takes no results until it is reopened');
    const dispatch = await publish(session, '4');
    await expect(compile(session, dispatch)).rejects.toMatchObject({ code: 'dispatch_rejected' });
    const shown = await run('result', 'ls', '--session', session, '--json');
    const [rejected] = JSON.parse(shown.stdout).rejected;
    expect(rejected).toMatchObject({
      code: 'session_archived',
      reason: expect.stringMatching(
        /^session \S+ is archived since \S+ \(Done; by a command without a terminal\)$/,
      ),
      fix: expect.stringContaining(`throughline session reopen ${session}`),
    });
    await expect(system.client.send('tool.note-add', { session, content: 'late' })).rejects.toMatchObject({
      code: 'session_archived',
    });
    await expect(system.client.send('tool.session-restart', { session })).rejects.toMatchObject({
      code: 'session_archived',
    });
    const reopened = await run('session', 'reopen', session, '--reason', 'A bug');
    expect(reopened).toMatchObject({ code: 0, stderr: '' });
    expect(reopened.stdout).not.toContain('archived');
    await system.client.send('tool.rejected-retry', { id: rejected.id });
    await soon(async () => {
      const { session: view } = await system.client.runs.status({ session });
      expect(view.dispatches).toMatchObject({ implementer: 4 });
    });
    expect((await compile(session, await publish(session, '5'))).prompt).toBeTruthy();
  });

  it('a prompt as of a sequence whose events have given way to the checkpoint is refused', async () => {
    const session = await withResults('past');
    const [first] = await eventsOf(system, session);
    await system.client.send('tool.session-archive', { session });
    await soon(async () => expect(await eventsOf(system, session)).toHaveLength(1));
    const asked = system.client.compile({
      session,
      taskId: '9',
      taskPrompt: 'next',
      asOf: first?.sequence ?? 0,
    });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
    const last = await run('last', session);
    expect(last.stderr).toContain('cannot be compiled again: the session was archived after it');
  });
});
