import { describe, expect, it } from 'vitest';
import { ThroughlineError } from '../../src/contracts/errors.js';
import { connectThroughline, createThroughlineClient, type Result } from '../../src/index.js';
import { ThroughlineClient } from '../../src/sdk/throughline-client.js';
import { startThroughline } from '../../src/server.js';
import { plainConnection } from '../support/nats-server.js';
import { newSession, systemOfFile } from '../support/system.js';

const system = await systemOfFile();

/** A handle on `demo` whose client keeps what it sends. */
function sending() {
  const sent: unknown[] = [];
  const client = new ThroughlineClient({
    async publish(subject, body) {
      sent.push([subject, typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : body]);
      return { sequence: 1 };
    },
    request: () => Promise.reject(new ThroughlineError('unavailable', 'no service')),
    async close() {},
  });
  return { demo: client.session('demo'), sent };
}

describe('a result that a program publishes', () => {
  it('a result in camelCase is sent in the spelling of the wire, and the raw text of an agent unchanged', async () => {
    const { demo, sent } = sending();
    await demo.publish('implementer', {
      taskId: '1',
      status: 'completed',
      filesModified: ['a.ts'],
      followUpActions: ['Test it'],
      resultId: 'r1',
    });
    await demo.publish('reviewer', {
      taskId: '1',
      assessment: 'needs_changes',
      requiredFixes: ['x'],
      issues: [{ severity: 'minor', message: 'y' }],
    });
    await demo.publish('implementer', 'Parser works.');
    const work = { task_id: '1', status: 'completed', files_modified: ['a.ts'], result_id: 'r1' };
    const review = { task_id: '1', assessment: 'needs_changes', required_fixes: ['x'] };
    expect(sent).toEqual([
      ['dispatch.demo.implementer', { ...work, follow_up_actions: ['Test it'] }],
      ['dispatch.demo.reviewer', { ...review, issues: [{ severity: 'minor', message: 'y' }] }],
      ['dispatch.demo.implementer', 'Parser works.'],
    ]);
  });

  it.each([
    [
      { taskId: '1', status: 'completed', sumary: 'x' },
      'sumary is not a recognized field: did you mean summary?',
    ],
    [
      { taskId: '1', status: 'completed', tests: [{ command: 'x', passed: true, ok: 1 }] },
      'tests.0.ok is not',
    ],
    [{ status: 'completed' }, 'taskId'],
    [{ taskId: '1', status: 'done' }, 'status'],
    [null, 'object'],
  ])('the result %j is not sent, and the error names the field', async (result, message) => {
    const { demo, sent } = sending();
    await expect(demo.publish('implementer', result as Result<'implementer'>)).rejects.toMatchObject({
      code: 'schema_invalid',
      message: expect.stringContaining(message),
    });
    expect(sent).toEqual([]);
  });
});

describe('options', () => {
  it('an unknown option is refused by its name', async () => {
    const unknown: object = { servers: 'nats://127.0.0.1:1' };
    const message = expect.stringMatching(/^servers is not an option of (connect|start)Throughline: /);
    await expect(connectThroughline(unknown)).rejects.toMatchObject({ code: 'schema_invalid', message });
    await expect(startThroughline(unknown)).rejects.toMatchObject({ code: 'schema_invalid', message });
    const connection = await plainConnection(system.url);
    expect(() => createThroughlineClient(connection, { timeout: 1 } as object)).toThrow(
      'timeout is not an option of createThroughlineClient: did you mean timeoutMs?',
    );
    await connection.close();
    const watching = system.client.watch({ session: 'demo', since: 1 } as { session: string });
    await expect(watching.next()).rejects.toThrow('since is not an option of watch: use one of session, ');
  });
});

describe('a session that is watched', () => {
  it('a watch tells what comes after it began, of a session that did not exist', async () => {
    const demo = system.client.session(newSession('unborn'));
    const events = demo.watch();
    let told: unknown;
    const first = events.next().then(({ value }) => {
      told = value;
    });
    await expect
      .poll(async () => {
        await demo.tools.noteAdd({ content: 'Here' });
        return told;
      })
      .toMatchObject({ kind: 'command', type: 'note.added' });
    await first;
    await events.return();
  });

  it('a watch ends with its signal, and with its client', async () => {
    const stop = new AbortController();
    const client = await connectThroughline({ url: system.url });
    const { id: session } = client.session(newSession('ended'));
    const ends = [client.watch({ session, signal: stop.signal }), client.watch({ session })];
    const [signalled, closed] = ends.map((each) => each.next());
    stop.abort();
    expect(await signalled).toMatchObject({ done: true });
    await client.close();
    expect(await closed).toMatchObject({ done: true });
  });

  it('a watch that has not begun when its client closes ends', async () => {
    let fail = (_: Error) => {};
    const client = new ThroughlineClient({
      publish: () => Promise.reject(new Error('unused')),
      request: () => new Promise((_, reject) => (fail = reject)),
      close: async () => fail(new ThroughlineError('unavailable', 'closed')),
    });
    const begun = client.watch({ session: newSession('waiting') }).next();
    await client.close();
    expect(await begun).toMatchObject({ done: true });
  });

  it('a failure that another request would not change ends the watch', async () => {
    const demo = system.client.session(newSession('failing'));
    let asked = 0;
    const client = new ThroughlineClient({
      publish: () => Promise.reject(new Error('unused')),
      request() {
        asked += 1;
        return asked === 1
          ? Promise.resolve({ entries: [], sequence: 0 })
          : Promise.reject(new ThroughlineError('permission_denied', 'not yours'));
      },
      async close() {},
    });
    await expect(client.watch({ session: demo.id }).next()).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});
