import { beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../src/contracts/names.js';
import { type ToolName, toolSubject } from '../../src/contracts/tool-requests.js';
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
