import { beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { TOOL_NAMES, type ToolName, toolSubject } from '../../src/contracts/tool-requests.js';
import { newSession, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

/** What comes back on the wire. */
async function request(name: ToolName, body: string | object) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const message = await system.ports.connection.request(toolSubject(name), text, { timeout: 5000 });
  return { message, headers: message.headers };
}

/** A session with two tasks, the first of which waits for the second. */
async function session(): Promise<Token> {
  const session = newSession('wire');
  const { tools } = system.client;
  for (const content of ['a', 'b']) await tools.taskAdd({ session, content });
  await tools.taskDepends({ session, id: '1', dependsOn: '2' });
  return session;
}

describe('a refusal', () => {
  let name: Token;
  beforeAll(async () => {
    name = await session();
  });

  const cases: [
    what: string,
    tool: ToolName,
    args: object | string,
    status: number,
    code: string,
    text: RegExp,
  ][] = [
    ['of bad JSON', 'task-add', '{"session"', 400, 'json_parse_failed', /not JSON/],
    [
      'of a bad status',
      'task-status',
      { id: '1', status: 'done' },
      400,
      'schema_invalid',
      /status is "done": use .*in_progress/,
    ],
    ['of a bad session', 'task-list', { session: 'a.b' }, 400, 'token_invalid', /session is "a\.b"/],
    [
      'of an unknown id',
      'task-status',
      { id: '9', status: 'blocked' },
      404,
      'not_found',
      /no task "9"; known: TAS-1, TAS-2/,
    ],
    ['of a cycle', 'task-depends', { id: '2', dependsOn: ['1'] }, 409, 'cycle', /TAS-2 → TAS-1 → TAS-2/],
  ];

  it.each(cases)('a refusal %s is typed: %s', async (_what, tool, args, status, code, text) => {
    const { message, headers } = await request(
      tool,
      typeof args === 'string' ? args : { session: name, ...args },
    );
    expect(headers?.get('Nats-Service-Error-Code')).toBe(String(status));
    expect(headers?.get('Nats-Service-Error')).toMatch(new RegExp(`^${code}: `));
    const { error } = message.json<{ error: { code: string; message: string } }>();
    expect(error.code).toBe(code);
    expect(error.message).toMatch(text);
  });

  it('the SDK throws a refusal with its code and details', async () => {
    const { tools } = system.client;
    await expect(tools.taskDepends({ session: name, id: '2', dependsOn: '1' })).rejects.toMatchObject({
      name: 'ThroughlineError',
      code: 'cycle',
      details: { cycle: ['TAS-2', 'TAS-1', 'TAS-2'] },
    });
    await expect(tools.sessionComplete({ session: name })).rejects.toMatchObject({
      code: 'open_tasks',
      details: { tasks: [{ id: 'TAS-1' }, { id: 'TAS-2' }] },
    });
  });
});

describe('the SDK', () => {
  it('the SDK has a method for each tool, and types what it answers', async () => {
    const { tools } = system.client;
    const session = newSession('sdk');
    const names = TOOL_NAMES.map((name) =>
      name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    );
    expect(Object.keys(tools).sort()).toEqual(names.sort());

    expect((await tools.sessionOpen({ session, goal: 'g' })).session).toMatchObject({
      goal: 'g',
      status: 'open',
    });
    expect((await tools.iterationStart({ session })).iteration).toMatchObject({ number: 1 });
    expect((await tools.taskAdd({ session, content: 'a', priority: 0 })).task).toMatchObject({ priority: 0 });
    expect((await tools.taskAdd({ session, content: 'b', dependsOn: ['TAS-1'] })).task.unresolved).toEqual([
      { id: 'TAS-1', why: 'remaining' },
    ]);
    expect((await tools.taskUndepends({ session, id: '2', dependsOn: '1' })).task.depends_on).toEqual([]);
    expect((await tools.taskDepends({ session, id: '2', dependsOn: '1' })).task.depends_on).toEqual([
      'TAS-1',
    ]);
    expect((await tools.taskPriority({ session, id: '2', priority: 1 })).task.priority).toBe(1);
    expect((await tools.taskContent({ session, id: '2', content: 'c' })).task.content).toBe('c');
    expect((await tools.taskNext({ session, claim: 'x' })).task).toMatchObject({
      id: 'TAS-1',
      claimed_by: 'x',
    });
    expect((await tools.taskRelease({ session, id: '1' })).task).toMatchObject({ status: 'remaining' });
    expect((await tools.taskStatus({ session, id: '1', status: 'completed' })).task.status).toBe('completed');
    expect(await tools.taskDelete({ session, id: '2' })).toMatchObject({ task: null, deleted: 'TAS-2' });
    expect((await tools.taskList({ session })).tasks).toMatchObject([{ id: 'TAS-1', unresolved: [] }]);

    expect((await tools.noteAdd({ session, content: 'n' })).note.id).toBe('NOT-1');
    expect((await tools.noteEdit({ session, id: '1', type: 'tip' })).note.type).toBe('tip');
    expect((await tools.noteList({ session, type: 'tip' })).notes).toHaveLength(1);
    expect((await tools.noteDelete({ session, id: '1' })).note).toBeNull();
    expect((await tools.inboxAdd({ session, content: 'm' })).message.read).toBe(false);
    expect((await tools.inboxMarkRead({ session, id: '1' })).message.read).toBe(true);
    expect((await tools.inboxList({ session })).messages).toEqual([]);
    expect((await tools.inboxList({ session, all: true })).messages).toHaveLength(1);

    expect((await tools.iterationSummary({ session, summary: 's' })).iteration.summary).toBe('s');
    expect((await tools.iterationComplete({ session })).iteration.complete).toBe(true);
    expect((await tools.iterationList({ session })).iterations).toMatchObject([{ tasks_worked: ['TAS-1'] }]);
    expect((await tools.sessionComplete({ session })).session).toMatchObject({ status: 'completed' });
    expect((await tools.sessionRestart({ session })).session).toMatchObject({ status: 'open' });
    const { session: shown, sequence } = await tools.sessionShow({ session });
    expect(shown).toMatchObject({ name: session, sequence, iteration: 1, board: { total: 1, completed: 1 } });
  });
});
